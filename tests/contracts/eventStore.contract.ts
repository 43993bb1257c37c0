/** What every event store must do. Streams have fresh names, so a store that already contains events can be used. */
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { comparePositions } from '#domain/kernel/event.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import {
  intact,
  isDamaged,
  type AppendResult,
  type EventFilter,
  type EventStore,
  type LogRecord,
} from '#platform/ports/eventStore.ts'
import { sampleEvent, sampleEvents } from './eventStore.samples.ts'

export interface OpenEventStore {
  readonly store: EventStore
  /** Closes the store and opens another one on the same data. */
  readonly reopen: () => Promise<EventStore>
  /** Adds a record that is no event after the last revision of the stream. */
  readonly spoil: (stream: string, last: number) => Promise<void>
  readonly close: () => Promise<void>
}

export function eventStoreContract(name: string, open: () => Promise<OpenEventStore>): void {
  describe(`event store: ${name}`, () => {
    let opened: OpenEventStore
    let store: EventStore
    let stream: string
    beforeEach(async () => {
      opened = await open()
      store = opened.store
      stream = `task-${randomUUID()}`
    })
    afterEach(() => opened.close())

    test('an event comes back as it was appended', async () => {
      const event = sampleEvent(stream, 0)
      const [position] = positionsOf(await store.append(stream, -1, [event]))
      const [read] = await store.readStream(stream, { from: 0, direction: 'forwards', limit: 10 })
      expect(read).toEqual({ ...event, position })
    })

    test('an event without content comes back without content', async () => {
      const event = { ...sampleEvent(stream, 0), content: null }
      await store.append(stream, -1, [event])
      const [read] = await store.readStream(stream, { from: 0, direction: 'forwards', limit: 1 })
      expect(read).toMatchObject({ content: null, id: event.id })
    })

    test('another expected revision than the actual one is a conflict that names it', async () => {
      expect(await store.append(stream, 3, [sampleEvent(stream, 4)])).toEqual({
        kind: 'conflict',
        actual: -1,
      })
      await store.append(stream, -1, sampleEvents(stream, 0, 2))
      expect(await store.append(stream, -1, [sampleEvent(stream, 0)])).toEqual({
        kind: 'conflict',
        actual: 1,
      })
      expect(await store.append(stream, 0, [sampleEvent(stream, 1)])).toEqual({ kind: 'conflict', actual: 1 })
      expect(await store.append(stream, 7, [sampleEvent(stream, 8)])).toEqual({ kind: 'conflict', actual: 1 })
      expect(await revisions(store, stream)).toEqual([0, 1])
    })

    test('a repeated append answers with the positions of the first time, also when others came after it', async () => {
      const events = sampleEvents(stream, 0, 3)
      const first = await store.append(stream, -1, events)
      expect(await store.append(stream, -1, events)).toEqual(first)
      await store.append(stream, 2, [sampleEvent(stream, 3)])
      expect(await store.append(stream, -1, events)).toEqual(first)
      expect(await revisions(store, stream)).toEqual([0, 1, 2, 3])
    })

    test('an append of which only a part is stored is a conflict, and stores nothing', async () => {
      const events = sampleEvents(stream, 0, 2)
      await store.append(stream, -1, events)
      const longer = [...events, sampleEvent(stream, 2)]
      expect(await store.append(stream, -1, longer)).toEqual({ kind: 'conflict', actual: 1 })
      expect(await revisions(store, stream)).toEqual([0, 1])
    })

    test('revisions that do not follow the expected one are a defect, and nothing is stored', async () => {
      await expect(
        store.append(stream, -1, [sampleEvent(stream, 0), sampleEvent(stream, 2)]),
      ).rejects.toThrow(RangeError)
      await expect(store.append(stream, -1, [sampleEvent('another', 0)])).rejects.toThrow(RangeError)
      expect(await revisions(store, stream)).toEqual([])
    })

    test('a stream is read in pages, forwards and backwards', async () => {
      await store.append(stream, -1, sampleEvents(stream, 0, 10))
      const read = async (from: number | 'end', direction: 'forwards' | 'backwards', limit: number) =>
        (await store.readStream(stream, { from, direction, limit })).map((event) => event.revision)
      expect(await read(0, 'forwards', 4)).toEqual([0, 1, 2, 3])
      expect(await read(4, 'forwards', 4)).toEqual([4, 5, 6, 7])
      expect(await read(8, 'forwards', 4)).toEqual([8, 9])
      expect(await read(10, 'forwards', 4)).toEqual([])
      expect(await read('end', 'forwards', 4)).toEqual([])
      expect(await read('end', 'backwards', 3)).toEqual([9, 8, 7])
      expect(await read(6, 'backwards', 3)).toEqual([6, 5, 4])
      expect(await read(1, 'backwards', 3)).toEqual([1, 0])
      expect(await store.readStream('unknown', { from: 'end', direction: 'backwards', limit: 3 })).toEqual([])
    })

    test('thirty writers of one stream, each retrying, leave no gap and lose nothing', async () => {
      const writers = Array.from({ length: 30 }, async () => {
        const id = randomUUID()
        for (;;) {
          const [last] = await store.readStream(stream, { from: 'end', direction: 'backwards', limit: 1 })
          const expected = last?.revision ?? -1
          const result = await store.append(stream, expected, [sampleEvent(stream, expected + 1, id)])
          if (result.kind === 'appended') return id
        }
      })
      const ids = await Promise.all(writers)
      const events = intact(await store.readStream(stream, { from: 0, direction: 'forwards', limit: 1_000 }))
      expect(events.map((event) => event.revision)).toEqual(Array.from({ length: 30 }, (_, index) => index))
      expect(new Set(events.map((event) => event.id))).toEqual(new Set(ids))
    })

    test('of appends at one revision that are under way together, one wins whole', async () => {
      const rivals = Array.from({ length: 20 }, () => sampleEvents(stream, 0, 3))
      const results = await Promise.all(rivals.map((events) => store.append(stream, -1, events)))
      const winners = rivals.filter((_, index) => results[index]?.kind === 'appended')
      expect(winners).toHaveLength(1)
      const stored = intact(await store.readStream(stream, { from: 0, direction: 'forwards', limit: 100 }))
      expect(stored.map((event) => event.id)).toEqual(winners[0]?.map((event) => event.id))
    })

    test('positions order 2,400 events of many streams as they were appended', async () => {
      const start = await store.head()
      const appended: Position[] = []
      for (let batch = 0; batch < 120; batch += 1) {
        const name = `${stream}-${batch % 7}`
        const from = Math.floor(batch / 7) * 20
        appended.push(...positionsOf(await store.append(name, from - 1, sampleEvents(name, from, 20))))
      }
      expect(appended).toEqual(appended.toSorted(comparePositions))
      expect(new Set(appended).size).toBe(2_400)

      const ours = (await readAllAfter(store, start, 700)).filter((event) => event.stream.startsWith(stream))
      expect(ours.map((event) => event.position)).toEqual(appended)
      expect(comparePositions((await store.head()) ?? '', appended.at(-1) ?? '')).toBeGreaterThanOrEqual(0)
    })

    test('readAll gives what is wanted alone: by the beginning of the stream, by type, by part', async () => {
      const start = await store.head()
      const other = `project-${randomUUID()}`
      const lists = { [stream]: sampleEvents(stream, 0, 4), [other]: sampleEvents(other, 0, 3) }
      for (const [name, events] of Object.entries(lists)) await store.append(name, -1, events)
      const ids = async (wanted: EventFilter, limit = 100) =>
        intact(await store.readAll(start, limit, wanted)).map(({ id }) => id)
      const idsOf = (name: string) => (lists[name] ?? []).map(({ id }) => id)

      expect(await ids({ streams: ['task-', 'project-'] })).toEqual([...idsOf(stream), ...idsOf(other)])
      expect(await ids({ streams: [stream] })).toEqual(idsOf(stream))
      expect(await ids({ streams: ['project-'] }, 2)).toEqual(idsOf(other).slice(0, 2))
      expect(await ids({ streams: ['_ask-', '%', ''.padEnd(3, 't')] })).toEqual([])
      expect(await ids({ streams: [] })).toEqual([])
      const [type = ''] = (lists[stream] ?? []).map((event) => event.type)
      expect(await ids({ streams: ['task-'], types: [type] })).toEqual(
        (lists[stream] ?? []).filter((event) => event.type === type).map(({ id }) => id),
      )
      expect(await ids({ streams: ['task-'], types: ['Nothing'] })).toEqual([])
      const parts = await Promise.all(
        [0, 1, 2].map((index) => ids({ streams: [stream, other], part: { index, of: 3 } })),
      )
      expect(parts.flat().toSorted()).toEqual([...idsOf(stream), ...idsOf(other)].toSorted())
      for (const part of parts) expect([0, 3, 4, 7]).toContain(part.length)
    })

    test('recorder C1: a record that is no event is given as damaged in its place, and all others as they are', async () => {
      const start = await store.head()
      const other = `project-${randomUUID()}`
      await store.append(stream, -1, sampleEvents(stream, 0, 3))
      await opened.spoil(stream, 2)
      await store.append(other, -1, sampleEvents(other, 0, 2))
      const spoiled = { stream, revision: 3, damage: expect.any(String) }
      const forwards = await store.readStream(stream, { from: 0, direction: 'forwards', limit: 10 })
      expect(forwards.map(isDamaged)).toEqual([false, false, false, true])
      expect(forwards.at(-1)).toMatchObject(spoiled)
      const backwards = await store.readStream(stream, { from: 'end', direction: 'backwards', limit: 2 })
      expect(backwards.map(isDamaged)).toEqual([true, false])
      const all = await store.readAll(start, 10, { streams: [stream, other] })
      expect(all.map(isDamaged)).toEqual([false, false, false, true, false, false])
      expect(all[3]).toMatchObject({ ...spoiled, position: forwards[3]?.position })
      const heard: LogRecord[] = []
      const subscription = store.subscribe(
        start,
        2,
        async (records) => {
          heard.push(...records)
        },
        { streams: [stream, other] },
      )
      await vi.waitFor(() => expect(heard).toEqual(all))
      await subscription.stop()
      expect(await store.append(stream, 2, [sampleEvent(stream, 3)])).toEqual({ kind: 'conflict', actual: 3 })
    })

    test('readAll starts after the position and keeps to the limit', async () => {
      const start = await store.head()
      const [first, second, third] = positionsOf(await store.append(stream, -1, sampleEvents(stream, 0, 3)))
      const seen = async (after: Position | null | undefined, limit: number) =>
        (await store.readAll(after ?? null, limit)).map((event) => event.position)
      expect(await seen(start, 2)).toEqual([first, second])
      expect(await seen(second, 10)).toEqual([third])
      expect(await seen(third, 10)).toEqual([])
    })

    test('a subscriber gets every event once, in order, while appends go on', async () => {
      const start = await store.head()
      const seen: StoredEvent[] = []
      let running = 0
      await store.append(stream, -1, sampleEvents(stream, 0, 50))
      const subscription = store.subscribe(start, 7, async (events) => {
        running += 1
        expect(running).toBe(1)
        expect(events.length).toBeLessThanOrEqual(7)
        await new Promise((resolve) => {
          setImmediate(resolve)
        })
        seen.push(...intact(events))
        running -= 1
      })
      await Promise.all(
        [0, 1, 2].map(async (writer) => {
          const name = `${stream}-${writer}`
          for (let revision = 0; revision < 100; revision += 1) {
            await store.append(name, revision - 1, [sampleEvent(name, revision)])
          }
        }),
      )
      await vi.waitFor(() => expect(seen.length).toBeGreaterThanOrEqual(350))
      await subscription.stop()
      const positions = seen.map((event) => event.position)
      expect(positions).toEqual((await readAllAfter(store, start, 100)).map((event) => event.position))
      expect(positions).toEqual(positions.toSorted(comparePositions))
    })

    test('a subscriber that fails is given the same events again, and none after them before', async () => {
      const start = await store.head()
      await store.append(stream, -1, sampleEvents(stream, 0, 5))
      const given: number[][] = []
      const subscription = store.subscribe(start, 2, async (events) => {
        given.push(events.map((event) => event.revision))
        if (given.length === 2 || given.length === 3) throw new Error('as the test wants it')
      })
      await vi.waitFor(() => expect(given).toHaveLength(5))
      await subscription.stop()
      expect(given).toEqual([[0, 1], [2, 3], [2, 3], [2, 3], [4]])
    })

    test('a subscriber that wants some events gets those alone, and is told how far the log was looked through', async () => {
      const start = await store.head()
      const other = `project-${randomUUID()}`
      const seen: StoredEvent[] = []
      const looked: Position[] = []
      const wanted: EventFilter = { streams: [stream], types: ['SampleRecorded'] }
      const subscription = store.subscribe(
        start,
        7,
        async (events, upTo) => {
          seen.push(...intact(events))
          looked.push(upTo)
        },
        wanted,
      )
      await store.append(stream, -1, sampleEvents(stream, 0, 10))
      const others = Array.from({ length: 200 }, (_, revision) => ({
        ...sampleEvent(other, revision),
        type: 'OtherRecorded',
      }))
      const passed = positionsOf(await store.append(other, -1, others))
      await store.append(stream, 9, sampleEvents(stream, 10, 10))
      await vi.waitFor(() => expect(seen).toHaveLength(20))
      expect(seen.map(({ revision }) => revision)).toEqual(Array.from({ length: 20 }, (_, n) => n))
      expect(looked).toEqual(looked.toSorted(comparePositions))
      await store.append(
        other,
        199,
        others.map((event) => ({ ...event, id: randomUUID(), revision: event.revision + 200 })),
      )
      const lastWanted = seen.at(-1)?.position ?? ''
      await vi.waitFor(() => expect(comparePositions(looked.at(-1) ?? '', lastWanted)).toBeGreaterThan(0))
      expect(passed).toHaveLength(200)
      expect(seen).toHaveLength(20)
      await subscription.stop()
    })

    test('an idle subscriber is woken by an append', async () => {
      const seen: string[] = []
      const subscription = store.subscribe(await store.head(), 10, async (events) => {
        seen.push(...events.map((event) => event.stream))
      })
      await new Promise((resolve) => {
        setTimeout(resolve, 50)
      })
      await store.append(stream, -1, [sampleEvent(stream, 0)])
      await vi.waitFor(() => expect(seen).toEqual([stream]))
      await subscription.stop()
    })

    test('stop waits for the handler that runs, and none runs after it', async () => {
      const start = await store.head()
      await store.append(stream, -1, sampleEvents(stream, 0, 2))
      const steps: string[] = []
      const gate = new EventEmitter()
      const subscription = store.subscribe(start, 1, async () => {
        steps.push('begins')
        await once(gate, 'open')
        steps.push('ends')
      })
      await vi.waitFor(() => expect(steps).toEqual(['begins']))
      const stopped = subscription.stop().then(() => steps.push('stopped'))
      gate.emit('open')
      await stopped
      await store.append(stream, 1, [sampleEvent(stream, 2)])
      expect(steps).toEqual(['begins', 'ends', 'stopped'])
    })

    test('what was appended is there after a restart, and the stream goes on', async () => {
      const first = await store.append(stream, -1, sampleEvents(stream, 0, 3))
      store = await opened.reopen()
      await store.ready()
      expect(await store.head()).toBe(positionsOf(first).at(-1))
      const [next] = positionsOf(await store.append(stream, 2, [sampleEvent(stream, 3)]))
      expect(comparePositions(next ?? '', positionsOf(first).at(-1) ?? '')).toBeGreaterThan(0)
      expect(await revisions(store, stream)).toEqual([0, 1, 2, 3])
    })
  })
}

function positionsOf(result: AppendResult): readonly Position[] {
  if (result.kind === 'conflict') throw new Error(`conflict with revision ${result.actual}`)
  return result.positions
}

async function revisions(store: EventStore, stream: string): Promise<number[]> {
  const events = await store.readStream(stream, { from: 0, direction: 'forwards', limit: 1_000 })
  return events.map((event) => event.revision)
}

async function readAllAfter(store: EventStore, start: Position | null, page: number): Promise<StoredEvent[]> {
  const all: StoredEvent[] = []
  for (let after = start; ;) {
    const events = await store.readAll(after, page)
    all.push(...intact(events))
    const last = events.at(-1)
    if (last === undefined) return all
    after = last.position
  }
}
