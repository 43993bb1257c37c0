/** The log as the services use it: sealed, chained, announced on the bus, and prepared for appends whose outcome is unknown. */
import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventKinds, type DomainEvent } from '#domain/events.ts'
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { MessagePosted, TaskUpdated, WorkspacePreparing } from '#domain/task/events.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { intact, type EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, KeyDestroyed, RemovedStream } from '#platform/ports/faults.ts'
import { executionId, messageId, taskId } from '../../../tests/domain/ids.ts'
import { arbitraryOf } from '../../../tests/domain/zodArbitrary.ts'
import {
  cause,
  eventually,
  openTestEngines,
  somebody,
  type TestEngines,
} from '../../../tests/server/engines.ts'
import { chainFaultOf, digestsOf } from './chain.ts'
import { emptyHead, eventLog, type EventLog } from './eventLog.ts'
import { randomRuns } from '../../../tests/longRun.ts'

const stream = taskStream(taskId(1))
const secretWords = 'the words that only the key may show'
const titled = (title: string) => TaskUpdated.of({}, { title, description: secretWords })

let engines: TestEngines
let log: EventLog
beforeEach(async () => {
  engines = await openTestEngines()
  log = engines.log
})
afterEach(() => engines.close())

const stored = async () =>
  intact(await engines.eventStore.readStream(stream, { from: 0, direction: 'forwards', limit: 1_000 }))

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Checks a stream's chain from the stored events alone, as an auditor does. */
function chainHolds(events: readonly StoredEvent[]): boolean {
  return events.every((event, at) => chainFaultOf(event, events[at - 1] ?? null) === undefined)
}

/** A log over the engines' event store, with another function `append`. */
const storeWith = (append: EventStore['append']): EventLog =>
  eventLog({ ...engines, eventStore: { ...engines.eventStore, append } })

describe('what is appended', () => {
  test('is read as it was written, forwards and backwards, with its place and cause', async () => {
    const why = { ...cause(), correlationId: 'c', causationId: 'because' }
    const appended = await log.append(stream, emptyHead, [titled('one'), titled('two')], why)
    const read = await log.read(stream, 0, 10)
    expect(appended).toMatchObject({ kind: 'appended', head: { revision: 1 }, events: read })
    expect(read[0]).toMatchObject({
      stream,
      revision: 0,
      type: 'TaskUpdated',
      version: 1,
      content: { title: 'one', description: secretWords },
      meta: { actor: somebody, commandId: why.commandId, correlationId: 'c', causationId: 'because' },
    })
    expect(await log.readBackwards(stream, 'end', 10)).toEqual([...read].reverse())
    expect(await log.read(stream, 1, 1)).toEqual(read.slice(1))
  })

  test.each([...eventKinds.values()].map((kind) => [kind.type, kind] as const))(
    'comes back as it was, whatever a %s holds',
    async (_, kind) => {
      let head = await log.headOf(stream)
      await fc.assert(
        fc.asyncProperty(arbitraryOf(kind.data), arbitraryOf(kind.content), async (data, content) => {
          // The cast holds because data and content were made from the schemas of the kind.
          const event = { type: kind.type, data, content } as DomainEvent
          const appended = await log.append(stream, head, [event], cause())
          if (appended.kind === 'appended') head = appended.head
          const [read] = await log.readBackwards(stream, 'end', 1)
          expect(read).toMatchObject({ type: kind.type, data, content })
        }),
        { numRuns: randomRuns(8) },
      )
    },
  )

  test('lies sealed: what people wrote is nowhere in the store, and facts are open', async () => {
    const posted = MessagePosted.of(
      { messageId: messageId(1), messageType: 'response', agent: 'claude', executionId: null },
      { message: secretWords },
    )
    await log.append(stream, emptyHead, [posted], cause())
    const [event] = await stored()
    expect(event?.data).toMatchObject({ messageId: messageId(1), agent: 'claude' })
    const bytes = Buffer.from(event?.content ?? '', 'base64').toString('latin1')
    expect(bytes.length).toBeGreaterThan(secretWords.length)
    expect(`${JSON.stringify(event)}${bytes}`).not.toContain('words')
  })

  test('without content has none sealed', async () => {
    await log.append(stream, emptyHead, [WorkspacePreparing.of({ executionId: executionId(1) })], cause())
    expect((await stored())[0]?.content).toBeNull()
    expect((await log.read(stream, 0, 1))[0]?.content).toBeNull()
  })

  test('is sealed for its own place: moved to another event it does not open', async () => {
    await log.append(stream, emptyHead, [titled('one'), titled('two')], cause())
    const [one, two] = await stored()
    if (!one || !two) throw new Error('Two events were appended.')
    await log.append(taskStream(taskId(2)), emptyHead, [titled('another')], cause())
    await expect(log.open({ ...one, content: two.content })).rejects.toMatchObject({
      reason: 'cannot_be_opened',
    })
    await expect(log.open({ ...one, stream: taskStream(taskId(2)) })).rejects.toMatchObject({
      reason: 'cannot_be_opened',
    })
  })

  test('is told to the bus after it is stored, in order, without its words', async () => {
    const heard: unknown[] = []
    engines.bus.subscribe('appended', (event) => heard.push(event))
    await log.append(stream, emptyHead, [titled('one'), titled('two')], cause())
    await eventually('the bus tells both', () => heard.length === 2)
    expect(heard).toEqual([0, 1].map((revision) => ({ stream, revision, type: 'TaskUpdated' })))
  })
})

describe('the place of an append', () => {
  test('is the exact revision it builds on: another answers where the stream is, and records nothing', async () => {
    const first = await log.append(stream, emptyHead, [titled('one')], cause())
    expect(await log.append(stream, emptyHead, [titled('two')], cause())).toEqual({
      kind: 'conflict',
      actual: 0,
    })
    const ahead = { revision: 7, hash: 'x' }
    expect(await log.append(stream, ahead, [titled('two')], cause())).toEqual({ kind: 'conflict', actual: 0 })
    expect(await log.headOf(stream)).toEqual(first.kind === 'appended' ? first.head : undefined)
    expect(await stored()).toHaveLength(1)
  })

  test('of two at once is given to one', async () => {
    const both = await Promise.all([
      log.append(stream, emptyHead, [titled('one')], cause()),
      log.append(stream, emptyHead, [titled('two')], cause()),
    ])
    expect(both.map(({ kind }) => kind).sort()).toEqual(['appended', 'conflict'])
  })
})

describe('the hash chain', () => {
  async function someHistory(): Promise<readonly StoredEvent[]> {
    let head = emptyHead
    for (const count of [1, 3, 2]) {
      const many = Array.from({ length: count }, (_, index) => titled(`t${index}`))
      const appended = await log.append(stream, head, many, cause())
      if (appended.kind === 'appended') head = appended.head
    }
    return stored()
  }

  test('holds from revision 0 over all appends', async () => {
    expect(chainHolds(await someHistory())).toBe(true)
  })

  test('breaks when anything of any event is changed, taken out or put elsewhere', async () => {
    const events = await someHistory()
    const changes: readonly (readonly [string, (event: StoredEvent) => StoredEvent])[] = [
      ['data', (event) => ({ ...event, data: { changed: true } })],
      ['content', (event) => ({ ...event, content: 'AAAA' })],
      ['no content', (event) => ({ ...event, content: null })],
      ['type', (event) => ({ ...event, type: 'TaskCreated' })],
      ['version', (event) => ({ ...event, version: 2 })],
      ['moment', (event) => ({ ...event, at: '2020-01-01T00:00:00.000Z' })],
      ['id', (event) => ({ ...event, id: 'other' })],
      ['stream', (event) => ({ ...event, stream: 'task-other' })],
      ['actor', (event) => ({ ...event, meta: { ...event.meta, actor: { kind: 'system', service: 'x' } } })],
      ['command', (event) => ({ ...event, meta: { ...event.meta, commandId: 'other' } })],
      ['cause', (event) => ({ ...event, meta: { ...event.meta, causationId: 'other' } })],
    ]
    for (const at of events.keys()) {
      for (const [what, change] of changes) {
        const changed = events.map((event, index) => (index === at ? change(event) : event))
        expect(chainHolds(changed), `${what} of event ${at}`).toBe(false)
      }
    }
    for (const at of events.slice(1).keys()) expect(chainHolds(events.toSpliced(at, 1))).toBe(false)
    const swapped = events.toSpliced(1, 2, ...events.slice(1, 3).reverse())
    expect(chainHolds(swapped)).toBe(false)
  })

  test('does not count the position: the log may move to another engine', async () => {
    const moved = (await someHistory()).map((event) => ({ ...event, position: `${event.position}000` }))
    expect(chainHolds(moved)).toBe(true)
  })

  test('is what anybody can compute: SHA-256 over the canonical JSON of all but position, sealed content and hash', async () => {
    await log.append(stream, emptyHead, [titled('one')], cause())
    const [event] = await stored()
    if (!event) throw new Error('One event was appended.')
    const { at, id, meta } = event
    const form = [
      `{"at":"${at}","data":{},"id":"${id}",`,
      `"meta":{"actor":{"kind":"user","userId":"${somebody.userId}"},"causationId":null,`,
      `"commandId":"${meta.commandId}","content":{"commitment":"${meta.content?.commitment}",`,
      `"sealed":"${meta.content?.sealed}"},"correlationId":"${meta.commandId}","follows":null,"prev":""},`,
      `"revision":0,"scheme":1,"stream":"${stream}","type":"TaskUpdated","version":1}`,
    ].join('')
    expect(meta.hash).toBe(sha256(form))
    expect(meta.content?.sealed).toBe(sha256(Buffer.from(event.content ?? '', 'base64')))
    const plain = await engines.vault.open(
      `task:${taskId(1)}`,
      `${stream}#${id}`,
      Buffer.from(event.content ?? '', 'base64'),
    )
    const shown = JSON.parse(Buffer.from(plain ?? []).toString('utf8'))
    expect(shown).toEqual({
      content: { title: 'one', description: secretWords },
      salt: shown.salt,
      scheme: 1,
    })
    expect(meta.content?.commitment).toBe(sha256(canonicalJson(shown)))
  })

  test('says that a content was removed or replaced, and holds over one that is withheld with its proof', async () => {
    const [first, ...others] = await someHistory()
    if (!first) throw new Error('Events were appended.')
    const bytes = Buffer.from(first.content ?? '', 'base64')
    bytes[20] = (bytes[20] ?? 0) ^ 1
    expect(chainFaultOf({ ...first, content: null }, null)).toBe('sealed_content')
    expect(chainFaultOf({ ...first, content: bytes.toString('base64') }, null)).toBe('sealed_content')
    expect(chainHolds([first, ...others])).toBe(true)
  })

  test('is looked at by readers: what does not follow is not read', async () => {
    const events = await someHistory()
    const holding = (kept: readonly StoredEvent[]) =>
      eventLog({
        ...engines,
        eventStore: {
          ...engines.eventStore,
          readStream: async (_, { from, limit }) =>
            from === 'end'
              ? kept.toReversed().slice(0, limit)
              : kept.filter(({ revision }) => revision >= from).slice(0, limit),
        },
      })
    const broken = { reason: 'broken_chain', event: { stream } }
    await expect(holding(events.toSpliced(2, 1)).read(stream, 0, 10)).rejects.toMatchObject(broken)
    const truncated = { reason: 'truncated', event: { stream, revision: 1 } }
    await expect(holding(events.slice(1)).read(stream, 0, 10)).rejects.toMatchObject(truncated)
    await expect(holding(events.slice(1)).readBackwards(stream, 'end', 10)).rejects.toMatchObject(truncated)
    expect(await holding(events.slice(1)).readBackwards(stream, 'end', 5)).toHaveLength(5)
    const other = events.map((event, at) =>
      at === 2 ? { ...event, meta: { ...event.meta, prev: 'f'.repeat(64) } } : event,
    )
    await expect(holding(other).read(stream, 0, 10)).rejects.toMatchObject(broken)
    expect(await holding(events).read(stream, 0, 10)).toHaveLength(6)
  })

  test('is told apart from what was removed: such a stream is not one that never was', async () => {
    const removed = eventLog({
      ...engines,
      eventStore: { ...engines.eventStore, readStream: () => Promise.reject(new RemovedStream(stream)) },
    })
    const deleted = { reason: 'deleted', event: { stream } }
    await expect(removed.read(stream, 0, 10)).rejects.toMatchObject(deleted)
    await expect(removed.readBackwards(stream, 'end', 10)).rejects.toMatchObject(deleted)
    await expect(removed.headOf(stream)).rejects.toMatchObject(deleted)
  })
})

describe('erasing', () => {
  test('takes the content of a task and of its terminal, and leaves facts and chain', async () => {
    const terminal = terminalStream(taskId(1))
    const printed = TerminalOutputRecorded.of(
      { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' },
      { text: secretWords },
    )
    await log.append(stream, emptyHead, [titled('one')], cause())
    await log.append(terminal, emptyHead, [printed], cause())
    await log.append(taskStream(taskId(2)), emptyHead, [titled('another')], cause())

    await engines.vault.destroy(`task:${taskId(1)}`)
    expect(await log.read(stream, 0, 1)).toMatchObject([{ type: 'TaskUpdated', data: {}, content: null }])
    expect(await log.read(terminal, 0, 1)).toMatchObject([{ data: { channel: 'stdout' }, content: null }])
    expect(await log.read(taskStream(taskId(2)), 0, 1)).toMatchObject([{ content: { title: 'another' } }])
    expect(chainHolds(await stored())).toBe(true)
  })

  test('is final: nothing with content is appended any more, and what has none still is', async () => {
    await log.append(stream, emptyHead, [titled('one')], cause())
    await engines.vault.destroy(`task:${taskId(1)}`)
    const head = await log.headOf(stream)
    await expect(log.append(stream, head, [titled('two')], cause())).rejects.toBeInstanceOf(KeyDestroyed)
    const bare = [WorkspacePreparing.of({ executionId: executionId(1) })]
    expect(await log.append(stream, head, bare, cause())).toMatchObject({ kind: 'appended' })
  })
})

describe('an engine whose answer does not come', () => {
  test('is asked again with the same ids: what it had stored is there once', async () => {
    let asked = 0
    const deaf = storeWith(async (...append) => {
      const result = await engines.eventStore.append(...append)
      asked += 1
      if (asked < 3) throw new EngineUnavailable('The event store')
      return result
    })
    const appended = await deaf.append(stream, emptyHead, [titled('one'), titled('two')], cause())
    expect(appended).toMatchObject({ kind: 'appended', head: { revision: 1 } })
    expect(asked).toBe(3)
    expect(await stored()).toHaveLength(2)
    expect(chainHolds(await stored())).toBe(true)
  })

  test('is given up when the patience is over, and the caller is told', async () => {
    let asked = 0
    const gone = storeWith(async () => {
      asked += 1
      throw new EngineUnavailable('The event store')
    })
    const impatient = { ...cause(), patienceMs: 250 }
    await expect(gone.append(stream, emptyHead, [titled('one')], impatient)).rejects.toBeInstanceOf(
      EngineUnavailable,
    )
    expect(asked).toBeGreaterThan(1)
  })

  test('and one that fails otherwise is not asked again', async () => {
    let asked = 0
    const broken = storeWith(async () => {
      asked += 1
      throw new RangeError('a defect')
    })
    await expect(broken.append(stream, emptyHead, [titled('one')], cause())).rejects.toThrow('a defect')
    expect(asked).toBe(1)
  })
})

test('an event of a kind that this version does not know is told by its name', async () => {
  await log.append(stream, emptyHead, [titled('one')], cause())
  const [event] = await stored()
  if (!event) throw new Error('One event was appended.')
  const painted = { ...event, type: 'TaskPainted' }
  const { hash } = digestsOf(painted)
  await expect(log.open({ ...painted, meta: { ...event.meta, hash } })).rejects.toThrow(
    `Event 0 of ${stream} (TaskPainted) is of a kind that this Flightdeck does not know.`,
  )
  // No version of Flightdeck has written this event: its type was changed afterwards.
  await expect(log.open(painted)).rejects.toThrow('is not what its hash was taken over: it was changed.')
})

test('what a schema does not take is never appended', async () => {
  const faulty = { type: 'TaskUpdated', data: {}, content: { title: 7 } } as unknown as DomainEvent
  await expect(log.append(stream, emptyHead, [faulty], cause())).rejects.toThrow('title')
  expect(await stored()).toEqual([])
})
