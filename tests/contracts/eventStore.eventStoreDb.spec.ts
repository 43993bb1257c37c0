import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { openEventStoreDb, type EventStoreDbOptions } from '#platform/eventstore/eventStoreDb.ts'
import { intact, type EventStore, type EventToAppend, type LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, RemovedStream, TooLarge, UnusableEngine } from '#platform/ports/faults.ts'
import { note } from '../report/notes.ts'
import { anyEventStoreDb, type AnyEventStoreDb } from '../servers/eventStoreDb.ts'
import { selfSigned } from '../servers/selfSigned.ts'
import { startEventStoreDb, type EventStoreDbStandIn, type LostAnswer } from '../standins/eventStoreDb.ts'
import { eventStoreContract } from './eventStore.contract.ts'
import { sampleEvent, sampleEvents } from './eventStore.samples.ts'

// Each event crosses a socket twice, and a container may have to be fetched first.

let any: AnyEventStoreDb
beforeAll(async () => {
  any = await anyEventStoreDb()
  note('event store: EventStoreDB', any.against)
})
afterAll(() => any.close())

eventStoreContract('EventStoreDB', async () => {
  const open = () => openEventStoreDb({ url: any.url, onFault: () => {}, onWaiting: () => {} })
  let store = await open()
  return {
    store,
    reopen: async () => {
      await store.close()
      store = await open()
      return store
    },
    spoil: async (stream, last) => {
      const client = EventStoreDBClient.connectionString(any.url)
      // With credentials of its own an append is a call of its own, which the stand-in takes.
      await client.appendToStream(
        stream,
        jsonEvent({ type: 'SampleRecorded', data: {}, metadata: { flightdeck: 2 } }),
        { expectedRevision: BigInt(last), credentials: { username: 'admin', password: 'changeit' } },
      )
      await client.dispose()
    },
    close: () => store.close(),
  }
})

describe('the event store on EventStoreDB', () => {
  let server: EventStoreDbStandIn
  let store: EventStore
  let faults: string[]
  let lines: string[]
  const opened: EventStore[] = []
  const open = async (options: Partial<EventStoreDbOptions> = {}) => {
    const another = await openEventStoreDb({
      url: `esdb://127.0.0.1:${server.port}?tls=false`,
      onFault: (what) => faults.push(what),
      onWaiting: (line) => lines.push(line),
      ...options,
    })
    opened.push(another)
    return another
  }
  const ids = (events: readonly (LogRecord | EventToAppend)[]) =>
    events.flatMap((event) => ('id' in event ? [event.id] : []))

  /** Appends as a service does: again, with the same ids, while the outcome is unknown. */
  async function surely(stream: string, expected: number, events: readonly EventToAppend[]) {
    for (;;) {
      try {
        return await store.append(stream, expected, events)
      } catch (fault) {
        if (!(fault instanceof EngineUnavailable)) throw fault
      }
    }
  }

  beforeEach(async () => {
    server = await startEventStoreDb()
    faults = []
    lines = []
    store = await open()
  })
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close()
    server.kill()
  })

  test('a server that is killed again and again amid appends and subscriptions loses nothing and doubles nothing', async () => {
    const seen: StoredEvent[] = []
    const subscription = store.subscribe(null, 10, async (events) => {
      seen.push(...intact(events))
    })
    const written = await Promise.all(
      Array.from({ length: 6 }, async (_, writer) => {
        const stream = `task-${writer}`
        const events = sampleEvents(stream, 0, 180)
        for (let revision = 0; revision < events.length; revision += 3) {
          await surely(stream, revision - 1, events.slice(revision, revision + 3))
          // The server goes while others' appends are under way, and their answers with it.
          if (writer === 0 && revision % 60 === 30) {
            server.kill()
            await pause(120)
            await server.restart()
          }
        }
        return events
      }),
    )
    await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(6 * 180))
    await subscription.stop()
    expect(server.events).toBe(6 * 180)
    for (const events of written) {
      const stream = events[0]?.stream ?? ''
      const stored = await store.readStream(stream, { from: 0, direction: 'forwards', limit: 1_000 })
      expect(ids(stored)).toEqual(ids(events))
      expect(ids(seen.filter((event) => event.stream === stream))).toEqual(ids(events))
    }
    expect(seen.map((event) => event.position)).toEqual(
      (await store.readAll(null, 10_000)).map((event) => event.position),
    )
    expect(faults).not.toEqual([])
    // The library rejects what others sent over this one call, and then ends the process: nothing must go there.
    expect(server.batchAppends).toBe(0)
  })

  test.each<LostAnswer>(['silence', 'a broken connection'])(
    'an append whose answer is lost in %s is made again and stored once',
    async (how) => {
      store = await open({ callMs: 1_000 })
      server.loseNextAnswer(how)
      const result = await store.append('task-1', -1, sampleEvents('task-1', 0, 3))
      const stored = await store.readAll(null, 10)
      expect(result).toEqual({ kind: 'appended', positions: stored.map(({ position }) => position) })
      expect(server.events).toBe(3)
    },
  )

  test('a server that is away makes every call unavailable, and is taken up again without a new start', async () => {
    await store.append('task-1', -1, sampleEvents('task-1', 0, 2))
    server.kill()
    const calls = [
      () => store.append('task-1', 1, [sampleEvent('task-1', 2)]),
      () => store.readStream('task-1', { from: 0, direction: 'forwards', limit: 10 }),
      () => store.readAll(null, 10),
      () => store.head(),
      () => store.ready(),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(EngineUnavailable)
    await expect(store.ready()).rejects.toThrow(`EventStoreDB at 127.0.0.1:${server.port} does not answer`)
    await server.restart()
    await store.ready()
    expect(await store.readAll(null, 10)).toHaveLength(2)
  })

  test('a server that is there and says nothing makes every call unavailable within its time', async () => {
    store = await open({ callMs: 300 })
    await store.append('task-1', -1, [sampleEvent('task-1', 0)])
    server.fallSilent()
    const calls = [
      () => store.append('task-1', 0, [sampleEvent('task-1', 1)]),
      () => store.readStream('task-1', { from: 0, direction: 'forwards', limit: 10 }),
      () => store.readAll(null, 10),
      () => store.head(),
      () => store.ready(),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toThrow(EngineUnavailable)
    }
  })

  test('a server that is not there yet is waited for, and one line says so', async () => {
    server.kill()
    const opening = open()
    await vi.waitFor(() => expect(lines).toHaveLength(1))
    expect(lines).toEqual([
      expect.stringMatching(
        /^EventStoreDB at 127\.0\.0\.1:\d+ does not answer yet \(.*ECONNREFUSED.*\): waiting for it\.$/,
      ),
    ])
    await server.restart()
    const late = await opening
    await late.append('task-1', -1, [sampleEvent('task-1', 0)])
    expect(lines).toHaveLength(1)
  })

  test('a cluster is found by its gossip, and again after it was away', async () => {
    store = await open({ url: `esdb+discover://127.0.0.1:${server.port}?tls=false` })
    await store.append('task-1', -1, [sampleEvent('task-1', 0)])
    server.kill()
    await expect(store.ready()).rejects.toThrow(EngineUnavailable)
    await server.restart()
    await vi.waitFor(() => store.ready())
    expect(await store.readAll(null, 10)).toHaveLength(1)
  })

  test('a subscription that the server drops goes on where it was', async () => {
    const seen: string[] = []
    const subscription = store.subscribe(null, 10, async (events) => {
      seen.push(...ids(events))
    })
    const events = sampleEvents('task-1', 0, 6)
    for (const [revision, event] of events.entries()) {
      await store.append('task-1', revision - 1, [event])
      await vi.waitFor(() => expect(seen).toHaveLength(revision + 1))
      if (revision % 2 === 0) server.dropSubscriptions()
    }
    await subscription.stop()
    expect(seen).toEqual(ids(events))
    expect(faults).toEqual([
      expect.stringMatching(
        /^The subscription to EventStoreDB broke after position \d+ and is taken up again$/,
      ),
      expect.any(String),
      expect.any(String),
    ])
  })

  test('a subscription that is stopped is over on the server too', async () => {
    const subscription = store.subscribe(null, 10, async () => {})
    await vi.waitFor(() => expect(server.subscriptions).toBe(1))
    await subscription.stop()
    await vi.waitFor(() => expect(server.subscriptions).toBe(0))
  })

  test('a server that does not say that a subscription has caught up is heard while events keep coming', async () => {
    const older = await startEventStoreDb({ isOlderThan23_10: true })
    const behind = await open({ url: `esdb://127.0.0.1:${older.port}?tls=false` })
    const seen: string[] = []
    const subscription = behind.subscribe(null, 500, async (events) => {
      seen.push(...ids(events))
    })
    const events = sampleEvents('task-1', 0, 400)
    let written = 0
    for (const event of events) {
      await behind.append('task-1', event.revision - 1, [event])
      written += 1
      await pause(5)
      if (seen.length > 0) break
    }
    expect(seen.length).toBeGreaterThan(0)
    await vi.waitFor(() => expect(seen).toEqual(ids(events.slice(0, written))))
    await subscription.stop()
    older.kill()
  })

  test('whether the server is there, and where the log ends, is asked for no more than that', async () => {
    await store.append('task-1', -1, sampleEvents('task-1', 0, 3))
    const before = server.asked
    await store.ready()
    expect(server.asked - before).toBe(1)
    // What others wrote since is passed over, in pages.
    for (let n = 0; n < 1_200; n += 1) server.storeForeign('invoice-1', 'InvoiceSent')
    const head = await store.head()
    expect(server.asked - before).toBeLessThan(2_000)
    expect(head).toBe((await store.readAll(null, 10)).at(-1)?.position)
  })

  test('a server that is short of something is asked again, and one that refuses the size is not', async () => {
    server.exhaust('Bandwidth exhausted or memory limit exceeded')
    const [event, next] = sampleEvents('task-1', 0, 2)
    if (!event || !next) throw new Error('There are two.')
    expect(await store.append('task-1', -1, [event])).toMatchObject({ kind: 'appended' })
    server.exhaust('Received message larger than max (5000000 vs. 4194304)')
    await expect(store.append('task-1', 0, [next])).rejects.toThrow(TooLarge)
    expect(server.events).toBe(1)
  })

  test('what other programs write, and what a subscriber does not want, does not cross the wire', async () => {
    const [all, some, byType]: string[][] = [[], [], []]
    const into = (seen: string[] | undefined) => async (events: readonly LogRecord[]) =>
      void seen?.push(...ids(events))
    const running = [
      store.subscribe(null, 10, into(all)),
      store.subscribe(null, 10, into(some), { streams: ['task-'] }),
      store.subscribe(null, 10, into(byType), { streams: ['task-'], types: ['Nothing'] }),
    ]
    for (let n = 0; n < 50; n += 1) server.storeForeign('invoice-1', 'InvoiceSent')
    const [ours, theirs] = [sampleEvents('task-1', 0, 3), sampleEvents('terminal-1', 0, 40)]
    await store.append('terminal-1', -1, theirs)
    await store.append('task-1', -1, ours)
    await vi.waitFor(() => expect([all?.length, some?.length]).toEqual([43, 3]))
    expect(server.pushed).toBe(46)
    expect(byType).toEqual([])
    for (const subscription of running) await subscription.stop()
  })

  test.each(['truncated', 'scavenged'] as const)(
    'a stream that was %s begins where it was left',
    async (how) => {
      await store.append('task-1', -1, sampleEvents('task-1', 0, 6))
      server.truncate('task-1', 4)
      if (how === 'scavenged') server.scavenge()
      const left = await store.readStream('task-1', { from: 0, direction: 'forwards', limit: 10 })
      expect(left.map(({ revision }) => revision)).toEqual([4, 5])
    },
  )

  test.each(['tombstone', 'soft'] as const)(
    'a stream that was deleted (%s) is not one that never was',
    async (how) => {
      await store.append('task-1', -1, sampleEvents('task-1', 0, 3))
      server.delete('task-1', how)
      for (const read of [
        { from: 0, direction: 'forwards', limit: 10 },
        { from: 'end', direction: 'backwards', limit: 1 },
      ] as const)
        await expect(store.readStream('task-1', read)).rejects.toThrow(RemovedStream)
      expect(await store.readStream('task-2', { from: 0, direction: 'forwards', limit: 10 })).toEqual([])
    },
  )

  describe('in a cluster', () => {
    test('feeds and histories come from a follower, and whatever must know the end of the log from the leader', async () => {
      const follower = await server.follow()
      store = await open({ url: `esdb+discover://127.0.0.1:${server.port}?tls=false` })
      const before = new Map(server.served)
      const seen: StoredEvent[] = []
      const subscription = store.subscribe(null, 10, async (events) => {
        seen.push(...intact(events))
      })
      await store.append('task-1', -1, sampleEvents('task-1', 0, 3))
      await vi.waitFor(() => expect(seen).toHaveLength(3))
      const history = { from: 'end', direction: 'backwards', limit: 10 } as const
      const asOf = seen.at(-1)?.position ?? ''
      expect(await store.readStream('task-1', { ...history, asOf })).toHaveLength(3)
      expect(Object.fromEntries(follower.served)).toEqual({ subscribe: 1, readStream: 1 })

      // It is behind from now on.
      follower.holdBack()
      await store.append('task-1', 2, sampleEvents('task-1', 3, 2))
      expect(await store.readStream('task-1', history)).toHaveLength(5)
      const end = (await store.head()) ?? ''
      expect(await store.readStream('task-1', { ...history, asOf: end })).toHaveLength(5)
      expect(await store.readStream('task-1', { ...history, asOf })).toHaveLength(3)
      expect(server.served.get('append')).toBe((before.get('append') ?? 0) + 2)
      expect(server.served.get('subscribe')).toBe(before.get('subscribe'))
      await subscription.stop()
    })
  })

  test('a subscriber that takes its time holds the server back', async () => {
    const events = sampleEvents('task-1', 0, 6_000)
    for (let from = 0; from < events.length; from += 500) {
      await store.append('task-1', from - 1, events.slice(from, from + 500))
    }
    const seen: string[] = []
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const subscription = store.subscribe(null, 10, async (batch) => {
      await gate
      seen.push(...ids(batch))
    })
    try {
      let before = -1
      await vi.waitFor(
        () => {
          const now = server.pushed
          const isStill = now > 0 && now === before
          before = now
          expect(isStill).toBe(true)
        },
        { interval: 200 },
      )
      expect(server.pushed).toBeLessThan(3_000)
    } finally {
      release()
    }
    await vi.waitFor(() => expect(seen).toHaveLength(6_000))
    await subscription.stop()
    expect(seen).toEqual(ids(events))
  })

  test('more than the server takes at once is refused, and nothing of it is written', async () => {
    const large = (revision: number) => ({ ...sampleEvent('task-1', revision), content: 'x'.repeat(600_000) })
    await expect(store.append('task-1', -1, [large(0), large(1)])).rejects.toThrow(TooLarge)
    await expect(store.append('task-1', -1, [large(0), large(1)])).rejects.toThrow(
      `EventStoreDB at 127.0.0.1:${server.port} does not take more than 1048576 bytes at once. Nothing of it was written.`,
    )
    expect(await store.head()).toBeNull()
    expect(await store.append('task-1', -1, [large(0)])).toMatchObject({ kind: 'appended' })
  })

  test("another program's events are not ours: the log goes on without them, in a stream of ours one is a damaged record", async () => {
    const seen: string[] = []
    const subscription = store.subscribe(null, 10, async (events) => {
      seen.push(...ids(events))
    })
    server.storeForeign('invoice-1', 'InvoiceSent')
    const event = sampleEvent('task-1', 0)
    await store.append('task-1', -1, [event])
    server.storeForeign('invoice-1', 'InvoicePaid')
    await vi.waitFor(() => expect(seen).toEqual([event.id]))
    expect(ids(await store.readAll(null, 10))).toEqual([event.id])
    expect((await store.readAll(null, 10)).at(-1)?.position).toBe(await store.head())
    await subscription.stop()
    server.storeForeign('task-1', 'InvoiceSent')
    const read = await store.readStream('task-1', { from: 0, direction: 'forwards', limit: 10 })
    expect(read).toMatchObject([{ id: event.id }, { revision: 1, damage: 'wrong_envelope' }])
  })

  test('what is asked of a closed store is refused as unavailable', async () => {
    const underWay = store.append('task-1', -1, [sampleEvent('task-1', 0)])
    await store.close()
    expect(await underWay).toMatchObject({ kind: 'appended' })
    await expect(store.append('task-1', 0, [sampleEvent('task-1', 1)])).rejects.toThrow(EngineUnavailable)
    await expect(store.readAll(null, 1)).rejects.toThrow(EngineUnavailable)
    await expect(store.ready()).rejects.toThrow(EngineUnavailable)
    await store.close()
  })

  test('a server that is too old is refused with a sentence', async () => {
    const older = await startEventStoreDb({ isOlderThan22_6: true })
    const opening = open({ url: `esdb://127.0.0.1:${older.port}?tls=false` })
    await expect(opening).rejects.toThrow('EventStoreDB 22.6 or later is required')
    await expect(opening).rejects.toThrow(UnusableEngine)
    older.kill()
  })

  test.each([
    ['', 'is not a valid EventStoreDB address'],
    ['http://admin:s3cret@127.0.0.1:2113', 'is not a valid EventStoreDB address'],
    ['admin:s3cret@127.0.0.1', 'is not a valid EventStoreDB address'],
    ['esdb://admin:s3cret@', 'is not a valid EventStoreDB address'],
    ['esdb://admin:s3cret@host:port?tls=false', 'is not a valid EventStoreDB address'],
    ['esdb://admin:s3cret@host:2113?tls=perhaps', 'is not a valid EventStoreDB address'],
    ['esdb://admin:s3cret%@host:2113?tls=false', 'must be written as %25'],
    ['esdb://s3cret@host:2113?tls=false', 'has no user and password'],
    ['esdb://host:2113', 'has no user and password'],
  ])('the address %s is refused with a sentence that shows no password', async (url, sentence) => {
    const fault: unknown = await open({ url }).catch((thrown: unknown) => thrown)
    expect(fault).toBeInstanceOf(UnusableEngine)
    expect(fault).toHaveProperty('message', expect.stringContaining(sentence))
    expect(everythingIn(fault)).not.toContain('s3cret')
  })

  describe('over TLS', () => {
    let folder: string
    let certificate: Parameters<typeof startEventStoreDb>[0] & { secured: { certificateFile: string } }
    let cannot: string | undefined
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'flightdeck-tls-'))
      const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
      certificate = { secured: { keyFile, certificateFile, user: 'flight deck', password: 'a:s3cret@%' } }
      cannot = await selfSigned(keyFile, certificateFile)
    })
    afterAll(() => rm(folder, { recursive: true }))

    const urlOf = (secured: EventStoreDbStandIn, password: string) => {
      const file = encodeURIComponent(certificate.secured.certificateFile)
      return `esdb://flight%20deck:${encodeURIComponent(password)}@localhost:${secured.port}?tlsCAFile=${file}`
    }

    test('every call names the user', async ({ skip }) => {
      skip(cannot !== undefined, cannot)
      const secured = await startEventStoreDb(certificate)
      const behind = await open({ url: urlOf(secured, 'a:s3cret@%') })
      const seen: string[] = []
      const subscription = behind.subscribe(null, 10, async (events) => {
        seen.push(...ids(events))
      })
      const event = sampleEvent('task-1', 0, randomUUID())
      await behind.append('task-1', -1, [event])
      await vi.waitFor(() => expect(seen).toEqual([event.id]))
      await subscription.stop()
      expect(secured.batchAppends).toBe(0)
      secured.kill()
    })

    test('a wrong password is refused at the start with a sentence that does not show it', async ({
      skip,
    }) => {
      skip(cannot !== undefined, cannot)
      const secured = await startEventStoreDb(certificate)
      const fault: unknown = await open({ url: urlOf(secured, 'wr0ng-s3cret') }).catch(
        (thrown: unknown) => thrown,
      )
      expect(fault).toBeInstanceOf(UnusableEngine)
      expect(fault).toHaveProperty('message', expect.stringContaining('refuses the user of EVENTSTORE_URL'))
      expect(everythingIn(fault)).not.toContain('wr0ng-s3cret')
      expect(lines).toEqual([])
      secured.kill()
    })
  })
})

/** A fault with all that a log would show of it. */
function everythingIn(fault: unknown): string {
  if (!(fault instanceof Error)) return JSON.stringify(fault)
  return `${fault.message} ${fault.stack} ${JSON.stringify(fault)} ${fault.cause === undefined ? '' : everythingIn(fault.cause)}`
}
