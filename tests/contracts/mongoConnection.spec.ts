import { once } from 'node:events'
import { createServer, Socket } from 'node:net'
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Db } from 'mongodb'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openGridFsBlobs } from '#platform/blobs/gridFs.ts'
import { openMongo, type Mongo } from '#platform/engines/mongoConnection.ts'
import { EngineUnavailable, UnusableEngine } from '#platform/ports/faults.ts'
import { openMongoReadStore } from '#platform/readstore/mongodb.ts'
import { openMongoVault } from '#platform/vault/mongodb.ts'
import { note } from '../report/notes.ts'
import { serveOldMongo } from '../servers/oldMongo.ts'
import { freshDatabase, gateBefore, startMongoServer, type MongoDatabase } from '../servers/mongodb.ts'
import type { Gate } from '../servers/tcpGate.ts'

const server = await startMongoServer()
const clock = { now: () => new Date() }
const quiet = () => {}

afterAll(() => server.close())

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  note('losing and finding the connection to MongoDB', server.what)

  let database: MongoDatabase
  let gate: Gate
  let url: string
  const opened: Mongo[] = []
  beforeEach(async () => {
    database = await freshDatabase(server)
    ;({ gate, url } = await gateBefore(server))
  })
  afterEach(async () => {
    for (const mongo of opened.splice(0)) await mongo.close()
    await gate.shut()
    await database.close()
  })

  const open = async (options: { onWaiting?: (line: string) => void; signal?: AbortSignal } = {}) => {
    const mongo = await openMongo({
      url,
      database: database.name,
      timeoutMs: 1_500,
      onWaiting: quiet,
      ...options,
    })
    opened.push(mongo)
    return mongo
  }

  test('an engine that is not there at start is waited for, with a line that says where and why', async () => {
    await gate.shut()
    const lines: string[] = []
    const opening = open({ onWaiting: (line) => lines.push(line) })
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(lines[0]).toMatch(
      /^MongoDB at 127\.0\.0\.1:\d+ does not answer \(connect ECONNREFUSED 127\.0\.0\.1:\d+\): waiting for it\.$/,
    )
    await gate.open()
    await (await opening).ready()
    expect(lines).toHaveLength(1)
  })

  test('an engine that takes connections and does not answer is waited for as well', async () => {
    gate.hold()
    const lines: string[] = []
    const opening = open({ onWaiting: (line) => lines.push(line) })
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    await gate.shut()
    await gate.open()
    await (await opening).ready()
  })

  test('the waiting ends when the program is stopped', async () => {
    await gate.shut()
    const stop = new AbortController()
    const opening = open({ signal: stop.signal })
    stop.abort(new Error('stopped'))
    await expect(opening).rejects.toThrow('stopped')
    await expect(open({ signal: stop.signal })).rejects.toThrow('stopped')
  })

  test('an engine that goes away makes every call unavailable in time, and is taken up again without a restart', async () => {
    const mongo = await open()
    const masterKey = randomBytes(32)
    const store = openMongoReadStore({ mongo })
    const vault = await openMongoVault({ mongo, masterKey, cachedMs: 1 })
    const blobs = await openGridFsBlobs({ mongo, clock })
    const document = { id: 'a', order: 1 }
    await store.apply([{ kind: 'put', collection: 'tasks', document, position: '1' }], {
      projection: 'p',
      position: '1',
    })
    const sealed = await vault.seal('task:1', 'c', Buffer.from('words'))
    const hash = await blobs.put(Buffer.from('blob'))
    const calls = [
      () => store.ready(),
      () => vault.ready(),
      () => blobs.ready(),
      () => store.get('tasks', 'a'),
      () => store.checkpoint('p'),
      () =>
        store.apply([{ kind: 'put', collection: 'tasks', document, position: '2' }], {
          projection: 'p',
          position: '2',
        }),
      () => vault.open('task:1', 'c', sealed),
      () => vault.putSecret('task:1', 'TOKEN', 'secret'),
      () => blobs.get(hash),
      () => blobs.put(Buffer.from('another blob')),
    ]

    await gate.shut()
    for (const outcome of await Promise.allSettled(calls.map((call) => call()))) {
      expect(outcome).toEqual({ status: 'rejected', reason: expect.any(EngineUnavailable) })
    }

    await gate.open()
    await vi.waitFor(() => store.ready())
    await Promise.all(calls.map((call) => call()))
    expect(await store.checkpoint('p')).toBe('2')
    expect(await vault.getSecret('task:1', 'TOKEN')).toBe('secret')
  })

  test('a batch that breaks off moves no checkpoint, and is whole once it is applied again', async () => {
    let cuts = true
    const { gate, url } = await gateBefore(server, (client, engine) => {
      client.on('data', (bytes: Buffer) => {
        if (cuts && bytes.includes('docs_second')) client.destroy()
        else engine.write(bytes)
      })
      engine.on('data', (bytes: Buffer) => client.write(bytes))
    })
    const mongo = await openMongo({ url, database: database.name, timeoutMs: 1_500, onWaiting: quiet })
    const store = openMongoReadStore({ mongo })
    const apply = () =>
      store.apply(
        ['first', 'second', 'first'].map((collection, index) => ({
          kind: 'put',
          collection,
          document: { id: `d${index}` },
          position: String(index),
        })),
        { projection: 'p', position: '3' },
      )
    await expect(apply()).rejects.toThrow(EngineUnavailable)
    expect(await store.count('first', {})).toBe(2)
    expect(await store.checkpoint('p')).toBeNull()
    cuts = false
    await apply()
    expect(await store.count('first', {})).toBe(2)
    expect(await store.get('second', 'd1')).toEqual({ id: 'd1' })
    expect(await store.checkpoint('p')).toBe('3')
    await mongo.close()
    await gate.shut()
  })

  test('an engine that hangs is unavailable in time, and serves on when it comes to itself', async () => {
    const mongo = await open()
    const store = openMongoReadStore({ mongo })
    await store.ready()
    gate.hold()
    await expect(store.ready()).rejects.toThrow(EngineUnavailable)
    await expect(store.checkpoint('p')).rejects.toThrow(EngineUnavailable)
    await gate.open()
    await vi.waitFor(() => store.checkpoint('p'))
  })

  test('a call that is under way when late calls have the client replaced is unavailable', async () => {
    const mongo = await open()
    const find = () => mongo.ask((db) => db.collection('things').findOne())
    await find()
    gate.hold()
    const calls = Array.from({ length: 15 }, find)
    const later = pause(1_000).then(find)
    const ends = await Promise.allSettled([...calls, find(), later])
    const unavailable: unknown = expect.objectContaining({ reason: expect.any(EngineUnavailable) })
    expect(ends).toEqual(Array.from({ length: 17 }, () => unavailable))
    await gate.open()
    await vi.waitFor(find)
  })

  test('an engine that stays away after the client was replaced is taken up again', async () => {
    const mongo = await open()
    const find = () => mongo.ask((db) => db.collection('things').findOne())
    await find()
    gate.hold()
    await Promise.allSettled(Array.from({ length: 16 }, find))
    // The first server selection of the new client fails, after which the driver closes it.
    await expect(find()).rejects.toThrow(EngineUnavailable)
    await pause(1_000)
    await gate.open()
    await vi.waitFor(find, { interval: 200 })
  })

  test('late calls with successes between them replace no client', async () => {
    const mongo = await open()
    const find = (db: Db) => db.collection('things').findOne()
    const done = new AbortController()
    const long = mongo.ask(async (db) => {
      while (!done.signal.aborted) await pause(10)
      return find(db)
    }, 60_000)
    for (let late = 0; late < 20; late += 1) {
      await expect(mongo.ask(() => pause(200), 1)).rejects.toThrow(EngineUnavailable)
      await mongo.ask(find, 60_000)
    }
    done.abort()
    await expect(long).resolves.toBeNull()
  })

  test('a call that gets no connection in time is unavailable', async () => {
    const mongo = await open()
    const find = (db: Db) => db.collection('things').findOne()
    await mongo.ask(find)
    gate.hold()
    const calls = Array.from({ length: 20 }, () => mongo.ask(find, 3_500))
    for (const end of await Promise.allSettled(calls))
      expect(end).toMatchObject({ reason: expect.any(EngineUnavailable) as unknown })
  })

  test('an engine that breaks the connection in the middle of a large write is unavailable', async () => {
    const { gate, url } = await gateBefore(server, (client, engine) => {
      client.on('data', (bytes: Buffer) => {
        if (bytes.includes('half_sent')) client.resetAndDestroy()
        else engine.write(bytes)
      })
      engine.on('data', (bytes: Buffer) => client.write(bytes))
    })
    const mongo = await openMongo({ url, database: database.name, timeoutMs: 1_500, onWaiting: quiet })
    const text = 'x'.repeat(15 * 1024 * 1024)
    const writes: ((db: Db) => Promise<unknown>)[] = [
      (db) => db.collection('half_sent').insertOne({ text }),
      (db) => db.collection('half_sent').bulkWrite([{ insertOne: { document: { text } } }]),
    ]
    for (const write of writes) await expect(mongo.ask(write)).rejects.toThrow(EngineUnavailable)
    await mongo.close()
    await gate.shut()
  })

  test('an engine is taken up again after connections that broke right before a command was written', async () => {
    const mongo = await open()
    const find = () => mongo.ask((db) => db.collection('things').findOne({ _id: { $exists: true } }))
    await find()
    const write = Socket.prototype.write
    const breaking = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...sent) {
      if (Buffer.from(sent[0]).includes('things')) this.destroy()
      return Reflect.apply(write, this, sent)
    })
    // The driver waits for ever in each of these calls, and keeps its connection, of which there are sixteen.
    const ends = await Promise.allSettled(Array.from({ length: 16 }, find))
    breaking.mockRestore()
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(16)
    await find()
  })

  test('an engine is taken up again after a heartbeat that broke right before it was written', async () => {
    const mongo = await open()
    const find = () => mongo.ask((db) => db.collection('things').findOne({ _id: { $exists: true } }))
    await find()
    const write = Socket.prototype.write
    let broken = false
    const breaking = vi.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, ...sent) {
      const bytes = Buffer.from(sent[0])
      if (this.remotePort === gate.port && (bytes.includes('hello') || bytes.includes('ismaster'))) {
        broken = true
        this.destroy()
      }
      return Reflect.apply(write, this, sent)
    })
    await vi.waitFor(() => expect(broken).toBe(true))
    breaking.mockRestore()
    // The driver waits for ever for that heartbeat, so it does not notice when a server that went away is there again.
    await gate.shut()
    await expect(find()).rejects.toThrow(EngineUnavailable)
    await gate.open()
    await Promise.allSettled(Array.from({ length: 16 }, find))
    await vi.waitFor(find, { interval: 200 })
  })

  test('closing does not wait for an engine that hangs, and what is asked afterwards is unavailable', async () => {
    const mongo = await open()
    gate.hold()
    await mongo.close()
    await expect(mongo.ready()).rejects.toThrow(EngineUnavailable)
  })

  test('a call that the engine refuses is a defect, told without what was sent', async () => {
    const mongo = await open()
    const refused = mongo.ask((db) => db.command({ nonsense: 'a person wrote this' }))
    await expect(refused).rejects.toThrow(
      /^MongoDB at 127\.0\.0\.1:\d+ refuses an operation: CommandNotFound \(59\)$/,
    )
    await expect(refused).rejects.not.toHaveProperty('cause')
  })
})

describe('what no waiting mends is refused at start, in a sentence without the password', () => {
  test.each([
    ['nonsense', 'Invalid scheme'],
    ['https://ada:s3cret@host/', 'Invalid scheme'],
    ['mongodb://ada:s3c/ret@host/', 'percent-encoded'],
    ['mongodb://ada:s3cret@', 'percent-encoded'],
    ['mongodb://ada:s3cret@host:99999/', 'percent-encoded'],
    ['mongodb://ada:s3cret@host/?nonsense=1', 'option nonsense is not supported'],
  ])('%s is no address', async (url, says) => {
    const opening = openMongo({ url, onWaiting: quiet })
    await expect(opening).rejects.toThrow(UnusableEngine)
    await expect(opening).rejects.toThrow(/^MONGODB_URL is not a valid MongoDB address/)
    await expect(opening).rejects.toThrow(says)
    await expect(opening).rejects.not.toThrow(/s3c|ret@/)
    await expect(opening).rejects.not.toHaveProperty('cause')
  })

  test('a server that is too old', async () => {
    const old = await serveOldMongo()
    const opening = openMongo({ url: old.url, timeoutMs: 1_000, onWaiting: quiet })
    await expect(opening).rejects.toThrow(UnusableEngine)
    await expect(opening).rejects.toThrow(/^MongoDB at \S+ is too old: MongoDB 4\.4 or later is needed\.$/)
    await old.close()
  })

  test.skipIf(!server.isThere)('credentials that are wrong', async () => {
    const url = server.url.replace(/^mongodb:\/\/([^/]*@)?/, 'mongodb://ada:s3cret@')
    const opening = openMongo({ url, timeoutMs: 5_000, onWaiting: quiet })
    await expect(opening).rejects.toThrow(UnusableEngine)
    await expect(opening).rejects.toThrow(/^MongoDB at \S+ does not let us in: the user name, the password/)
    await expect(opening).rejects.not.toThrow(/ada|s3cret/)
  })

  test.skipIf(!server.url.includes('@'))('no credentials where some are needed', async () => {
    const url = server.url.replace(/\/\/[^/]*@/, '//')
    const opening = openMongo({ url, onWaiting: quiet })
    await expect(opening).rejects.toThrow(UnusableEngine)
    await expect(opening).rejects.toThrow(/^MongoDB at \S+ does not let us read and write our database/)
  })

  test('something that is no MongoDB is waited for, with what it did', async () => {
    const other = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    )
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : 0
    const stop = new AbortController()
    const lines: string[] = []
    const opening = openMongo({
      url: `mongodb://ada:s3cret@127.0.0.1:${port}/`,
      timeoutMs: 500,
      signal: stop.signal,
      onWaiting: (line) => lines.push(line),
    })
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(lines[0]).toMatch(/^MongoDB at 127\.0\.0\.1:\d+ does not answer \(.*\): waiting for it\.$/)
    expect(lines[0]).not.toMatch(/ada|s3cret/)
    stop.abort(new Error('stopped'))
    await expect(opening).rejects.toThrow('stopped')
    other.close()
  })
})
