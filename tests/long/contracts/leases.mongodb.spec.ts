import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openMongoLeases } from '#platform/leases/mongodb.ts'
import { openMongo, type Mongo } from '#platform/engines/mongoConnection.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Leases } from '#platform/ports/leases.ts'
import { note } from '../../report/notes.ts'
import type { Gate, Passage } from '../../servers/tcpGate.ts'
import {
  freshDatabase,
  gateBefore,
  startMongoServer,
  type MongoDatabase,
  type MongoServer,
} from '../../servers/mongodb.ts'
import { oneAtATime } from '../../servers/oneWriteAtATime.ts'
import { leasesContract, works } from '../../contracts/leases.contract.ts'

const server = await startMongoServer()
const quiet = () => {}
const onFault = () => {}

afterAll(() => server.close())

/** So long after it was cut off, at most, a holder has stopped; so long after it is lost, a lease has another. */
const stopsMs = 3_000
const followsMs = 5_000
/** Longer than a lease lasts that nobody keeps. */
const lapseMs = 4_000

describe.skipIf(!server.isThere)(`on ${server.what}`, () => {
  note('leases: MongoDB', server.what)

  leasesContract('MongoDB', async () => {
    const database = await freshDatabase(server)
    // FerretDB writes in two steps what MongoDB does in one: it is given one command at a time.
    const { gate, url } = await gateBefore(server, server.isMongoDb ? undefined : oneAtATime())
    const faults: string[] = []
    const open = async () => {
      const mongo = await openMongo({ url, database: database.name, onWaiting: quiet })
      return { mongo, leases: openMongoLeases({ mongo, onFault: (what) => faults.push(what) }) }
    }
    const [here, there] = [await open(), await open()]
    return {
      leases: here.leases,
      elsewhere: there.leases,
      faults,
      close: async () => {
        for (const { leases, mongo } of [here, there]) {
          await leases.close()
          await mongo.close()
        }
        await gate.shut()
        await database.close()
      },
    }
  })

  describe('the MongoDB leases', () => {
    let database: MongoDatabase
    /** The server, as all of them see it. */
    let shared: MongoServer
    const closing: (() => Promise<unknown>)[] = []
    beforeEach(async () => {
      database = await freshDatabase(server)
      // FerretDB writes in two steps what MongoDB does in one: it is given one command at a time.
      const { gate, url } = await gateBefore(server, server.isMongoDb ? undefined : oneAtATime())
      shared = { ...server, url }
      closing.push(() => gate.shut())
    })
    afterEach(async () => {
      for (const close of closing.splice(0).toReversed()) await close()
      await database.close()
    })

    /** One who wants leases, with a way of its own to the server. */
    async function someone(passage?: Passage): Promise<{ leases: Leases; gate: Gate; mongo: Mongo }> {
      const { gate, url } = await gateBefore(shared, passage)
      const mongo = await openMongo({ url, database: database.name, onWaiting: quiet })
      const leases = openMongoLeases({ mongo, onFault })
      closing.push(async () => {
        // One that hangs would be waited for.
        await gate.shut()
        await leases.close()
        await mongo.close()
      })
      return { leases, gate, mongo }
    }

    /** A process of its own that wants the lease `work`. */
    async function process(): Promise<{ told: readonly string[]; child: ChildProcess }> {
      const script = fileURLToPath(new URL('leases.mongodb.holder.ts', import.meta.url))
      const child = spawn(
        globalThis.process.execPath,
        ['--import', 'tsx', script, shared.url, database.name, 'work'],
        { env: {}, stdio: ['ignore', 'pipe', 'inherit'] },
      )
      closing.push(async () => child.kill('SIGKILL'))
      const told: string[] = []
      createInterface(child.stdout).on('line', (line) => told.push(line))
      await vi.waitFor(() => expect(told).toContain('waits'))
      return { told, child }
    }

    const stored = (holder: string | null) =>
      database.mongo.ask((db) =>
        db
          .collection<{ _id: string }>('leases')
          .updateOne({ _id: 'work' }, { $set: { holder }, $inc: { term: 1 } }),
      )

    test.each(['shut', 'hold'] as const)(
      'a holder whose way is cut off (%s) stops before another takes over, and waits when it is back',
      async (cut) => {
        const [one, other] = [await someone(), await someone()]
        const { told, of, once } = works()
        one.leases.hold('work', of('one'))
        await once('one starts')
        const next = other.leases.hold('work', of('other'))
        await one.gate[cut]()
        const from = performance.now()
        await once('one stops', stopsMs)
        await once('other starts', followsMs - (performance.now() - from))
        expect(told).toEqual(['one starts', 'one stops', 'one is gone', 'other starts'])

        await one.gate.open()
        await vi.waitFor(() => one.mongo.ready())
        await pause(lapseMs)
        expect(told).toHaveLength(4)
        await next.stop()
        await vi.waitFor(() => expect(told.at(-1)).toBe('one starts'))
      },
      40_000,
    )

    test('of three whose ways break one after another never two hold it at once', async () => {
      const all = [await someone(), await someone(), await someone()]
      const { told, of } = works()
      for (const [index, { leases }] of all.entries()) leases.hold('work', of(String(index)))
      for (const cut of ['shut', 'hold', 'shut'] as const) {
        await vi.waitFor(() => expect(told.at(-1)).toMatch(/starts$/))
        const holder = all[Number(told.at(-1)?.split(' ')[0])]
        const starts = told.length
        await holder?.gate[cut]()
        await vi.waitFor(() => expect(told.slice(starts).join()).toMatch(/starts$/))
        await holder?.gate.open()
      }
      const lives = told.filter((line) => !line.endsWith('gone')).map((line) => line.split(' ')[1])
      expect(lives).toEqual(lives.map((_, index) => (index % 2 === 0 ? 'starts' : 'stops')))
    }, 60_000)

    test('who was not told that it had got the lease trusts in it no longer than others leave it', async () => {
      // What takes the lease is passed on and its answer is not; when that was found out, nothing passes any more.
      let takes = 0
      let isCut = false
      const forgetful: Passage = (client, engine) => {
        let drops = false
        client.on('data', (bytes: Buffer) => {
          if (isCut) return
          if (bytes.includes('leases') && bytes.includes('$set')) {
            takes += 1
            drops = takes === 1
          }
          engine.write(bytes)
        })
        engine.on('data', (bytes: Buffer) => {
          if (!drops && !isCut) client.write(bytes)
        })
      }
      const [one, other] = [await someone(forgetful), await someone()]
      const before = works()
      const earlier = other.leases.hold('work', before.of('earlier'))
      await before.once('earlier starts')
      const { told, of, once } = works()
      one.leases.hold('work', async () => {
        isCut = true
        return of('one')()
      })
      await earlier.stop()
      await vi.waitFor(() => expect(takes).toBe(1))
      other.leases.hold('work', of('other'))
      await once('other starts', 15_000)
      expect(told).toEqual(['one starts', 'one stops', 'one is gone', 'other starts'])
    }, 40_000)

    test('work whose lease another took is stopped, and done again when it is free', async () => {
      const { told, of, once } = works()
      const { leases } = await someone()
      leases.hold('work', of('work'))
      await once('work starts')
      await stored('somebody else')
      await once('work is gone', stopsMs)
      await stored(null)
      await vi.waitFor(() => expect(told.slice(3)).toEqual(['work starts']), followsMs)
    }, 30_000)

    test('a holder that was killed is followed within five seconds', async () => {
      const first = await process()
      await vi.waitFor(() => expect(first.told).toContain('starts'))
      const { of, once } = works()
      const { leases } = await someone()
      leases.hold('work', of('next'))
      await pause(1_000)
      first.child.kill('SIGKILL')
      await once('next starts', followsMs)
    }, 40_000)

    test('a holder that was frozen is followed as well; when it comes to itself it stops, and the other goes on', async () => {
      const first = await process()
      await vi.waitFor(() => expect(first.told).toContain('starts'))
      const { told, of, once } = works()
      const { leases } = await someone()
      const next = leases.hold('work', of('next'))
      first.child.kill('SIGSTOP')
      await once('next starts', followsMs)
      first.child.kill('SIGCONT')
      await vi.waitFor(() => expect(first.told).toEqual(['waits', 'starts', 'stops']), stopsMs)
      await pause(lapseMs)
      expect(told).toEqual(['next starts'])
      await next.stop()
      await vi.waitFor(() => expect(first.told.slice(3)).toEqual(['starts']), followsMs)
    }, 60_000)

    test('without a way to the server nothing is held, and stopping does not wait for it', async () => {
      const { told, of, once } = works()
      const { leases, gate } = await someone()
      await gate.shut()
      const holding = leases.hold('work', of('work'))
      await expect(leases.ready()).rejects.toThrow(EngineUnavailable)
      const from = performance.now()
      await holding.stop()
      expect(performance.now() - from).toBeLessThan(stopsMs)
      await gate.open()
      leases.hold('work', of('later'))
      await once('later starts')
      expect(told).toEqual(['later starts'])
    }, 30_000)
  })
})
