import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { DamagedData, EngineUnavailable, NewerData, OlderData } from '#platform/ports/faults.ts'
import { openSqlite } from '#platform/engines/sqlite.ts'
import { eventStoreContract } from './eventStore.contract.ts'
import { sampleEvent, sampleEvents } from './eventStore.samples.ts'

const onFault = () => {}

eventStoreContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-log-'))
  const file = join(folder, 'events.db')
  let store = openSqliteEventStore({ file, onFault })
  return {
    store,
    reopen: async () => {
      await store.close()
      store = openSqliteEventStore({ file, onFault })
      return store
    },
    spoil: async (stream) => {
      const db = openSqlite({ file, synchronous: 'OFF', formats: [''], firstFormat: 4 })
      db.prepare<[string]>(
        `INSERT INTO events (id, stream, revision, type, version, at, data, content, meta)
         SELECT id, stream, revision + 1, type, version, at, data || '}', content, meta FROM events
         WHERE stream = ? ORDER BY revision DESC LIMIT 1`,
      ).run(stream)
      db.close()
    },
    close: async () => {
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
})

describe('the SQLite event store', () => {
  let folder: string
  let file: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flightdeck-log-'))
    file = join(folder, 'events.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  test('every append that was answered survives kill -9 of the writer, and none is there in part', async () => {
    const script = fileURLToPath(new URL('eventStore.writer.ts', import.meta.url))
    const writer = spawn(process.execPath, ['--import', 'tsx', script, file, 'task-1'], {
      env: {},
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const answered: string[] = []
    for await (const position of createInterface(writer.stdout)) {
      answered.push(position)
      if (answered.length === 300) writer.kill('SIGKILL')
    }
    if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit')
    expect(writer.signalCode).toBe('SIGKILL')

    const store = openSqliteEventStore({ file, onFault })
    const stored = await store.readAll(null, 1_000_000)
    expect(stored.length % 3).toBe(0)
    expect(stored.map((event) => event.revision)).toEqual(stored.map((_, index) => index))
    expect(stored.map((event) => event.position)).toEqual(expect.arrayContaining(answered))
    await store.close()
  })

  test('data that is no JSON is refused, and the appends beside it are not harmed', async () => {
    const store = openSqliteEventStore({ file, onFault })
    const [before, stray, after] = await Promise.allSettled([
      store.append('b', -1, sampleEvents('b', 0, 2)),
      store.append('c', -1, [sampleEvent('c', 0), { ...sampleEvent('c', 1), data: { amount: 1n } }]),
      store.append('d', -1, sampleEvents('d', 0, 2)),
    ])
    expect([before.status, stray.status, after.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    const streams = (await store.readAll(null, 10)).map((event) => event.stream)
    expect(streams).toEqual(['b', 'b', 'd', 'd'])
    expect(await store.append('b', 1, [sampleEvent('b', 2)])).toMatchObject({ kind: 'appended' })
    expect(await store.append('c', -1, [sampleEvent('c', 0)])).toMatchObject({ kind: 'appended' })
    await store.close()
  })

  test('the next append notices what another connection has removed or added', async () => {
    const store = openSqliteEventStore({ file, onFault })
    await store.append('a', -1, sampleEvents('a', 0, 3))
    const other = openSqlite({ file, synchronous: 'OFF', formats: [''], firstFormat: 4 })
    other.exec("DELETE FROM events WHERE stream = 'a' AND revision = 2")
    expect(await store.append('a', 2, [sampleEvent('a', 3)])).toEqual({ kind: 'conflict', actual: 1 })
    expect(await store.append('a', 1, [sampleEvent('a', 2)])).toMatchObject({ kind: 'appended' })
    other.close()
    const second = openSqliteEventStore({ file, onFault })
    await second.append('a', 2, [sampleEvent('a', 3)])
    expect(await store.append('a', 2, [sampleEvent('a', 3)])).toEqual({ kind: 'conflict', actual: 3 })
    await second.close()
    await store.close()
  })

  test('a log from before the format was final is refused with a sentence and not touched', async () => {
    openSqlite({ file, synchronous: 'FULL', formats: ['CREATE TABLE events (a)', ''] }).close()
    const bytes = await readFile(file)
    expect(() => openSqliteEventStore({ file, onFault })).toThrow(OlderData)
    expect(() => openSqliteEventStore({ file, onFault })).toThrow(/Move the data aside/)
    expect(await readFile(file)).toEqual(bytes)
  })

  test('what is asked of a closed store is refused as unavailable', async () => {
    const store = openSqliteEventStore({ file, onFault })
    const underWay = store.append('a', -1, [sampleEvent('a', 0)])
    await store.close()
    expect(await underWay).toMatchObject({ kind: 'appended' })
    await expect(store.append('a', 0, [sampleEvent('a', 1)])).rejects.toThrow(EngineUnavailable)
    await expect(store.readAll(null, 1)).rejects.toThrow(EngineUnavailable)
    await expect(store.ready()).rejects.toThrow(EngineUnavailable)
    await store.close()
  })

  test('a file of a newer format is refused with a sentence and not touched', async () => {
    const newer = openSqlite({
      file,
      synchronous: 'FULL',
      formats: ['CREATE TABLE a (b)', '', '', '', 'CREATE TABLE c (d)'],
    })
    newer.close()
    const bytes = await readFile(file)
    expect(() => openSqliteEventStore({ file, onFault })).toThrow(NewerData)
    expect(() => openSqliteEventStore({ file, onFault })).toThrow(
      `The data in ${file} was written by a newer Flightdeck (format 5; this one knows 4).`,
    )
    expect(await readFile(file)).toEqual(bytes)
  })

  test('a newer format is seen even when its process was killed before it was in the main file', async () => {
    const newer = openSqlite({
      file,
      synchronous: 'FULL',
      formats: ['CREATE TABLE a (b)', '', '', '', 'CREATE TABLE c (d)'],
    })
    const wal = await readFile(`${file}-wal`)
    expect(() => openSqliteEventStore({ file, onFault })).toThrow(NewerData)
    expect(await readFile(`${file}-wal`)).toEqual(wal)
    newer.close()
  })

  test('a file of an older format is brought up to date', () => {
    openSqlite({ file, synchronous: 'FULL', formats: ['CREATE TABLE a (b)'] }).close()
    const db = openSqlite({
      file,
      synchronous: 'FULL',
      formats: ['CREATE TABLE a (b)', 'CREATE TABLE c (d)'],
    })
    expect(db.prepare<[], [number]>('SELECT count(*) FROM a, c').get()).toEqual([0])
    db.close()
  })

  test('a file that is no database is refused with a sentence and not touched', async () => {
    await writeFile(file, 'These are notes of mine. '.repeat(200))
    expect(() => openSqliteEventStore({ file, onFault })).toThrow(DamagedData)
    expect(await readFile(file, 'utf8')).toBe('These are notes of mine. '.repeat(200))
  })

  test('a folder that is not there makes the store unavailable', () => {
    expect(() => openSqliteEventStore({ file: join(folder, 'none', 'events.db'), onFault })).toThrow(
      EngineUnavailable,
    )
  })
})
