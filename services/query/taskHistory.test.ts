/** A task's history from the log: both streams in one order, in pages, as far as it can be read. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { HistoryItem } from '#domain/history/item.ts'
import { momentOf } from '#domain/history/moments.ts'
import { scopeOfStream, taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import { MessageTextRecorded, TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { emptyHead, UnreadableEvent, type EventLog, type Head } from '#platform/eventlog/eventLog.ts'
import { executionId, messageId, taskId } from '../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { historyPage } from './taskHistory.ts'

const id = taskId(1)
const attempt = { executionId: executionId(1), attempt: 1 }

let engines: TestEngines
let log: EventLog
let heads: { task: Head; terminal: Head }
beforeEach(async () => {
  engines = await openTestEngines()
  log = engines.log
  heads = { task: emptyHead, terminal: emptyHead }
})
afterEach(() => engines.close())

async function happens(title: string): Promise<void> {
  const event = TaskUpdated.of({}, { title, description: '' })
  const appended = await log.append(taskStream(id), heads.task, [event], cause())
  if (appended.kind === 'appended') heads.task = appended.head
}

async function prints(text: string, follows: number): Promise<void> {
  const event = TerminalOutputRecorded.of({ ...attempt, kind: 'turn', channel: 'stdout' }, { text })
  const appended = await log.append(terminalStream(id), heads.terminal, [event], { ...cause(), follows })
  if (appended.kind === 'appended') heads.terminal = appended.head
}

async function writes(text: string, follows: number): Promise<void> {
  const event = MessageTextRecorded.of(
    { ...attempt, messageId: messageId(1), offset: 0 },
    { text, begunAt: '2026-01-01T00:00:00.000Z', chunks: [[text.length, 0]] },
  )
  const appended = await log.append(terminalStream(id), heads.terminal, [event], { ...cause(), follows })
  if (appended.kind === 'appended') heads.terminal = appended.head
}

async function wholeHistory(limit: number, of: Pick<EventLog, 'read' | 'headOf'> = log) {
  const items: HistoryItem[] = []
  const pages: number[] = []
  let after: string | undefined
  for (;;) {
    const page = await historyPage(of, id, { after, limit })
    items.push(...page.items)
    pages.push(page.items.length)
    after = page.next
    if (!page.more) return { ...page, items, moments: items.map(momentOf), pages }
  }
}

test.each([1, 2, 3, 1_000])('in pages of %i it is the same history', async (limit) => {
  await happens('one')
  await happens('two')
  await prints('a', 0)
  await happens('three')
  await writes('b', 1)
  await prints('c', 2)
  const { moments, pages, total, missing, next } = await wholeHistory(limit)
  expect(moments).toEqual(['0', 't0', '1', 't1', '2', 't2'])
  expect(Math.max(...pages)).toBeLessThanOrEqual(limit)
  expect({ total, missing, next }).toEqual({ total: 6, missing: [], next: '3.3' })
})

test('in pages of any size it is the same history, however its two streams are mixed', async () => {
  let happened = 0
  for (const printed of [0, 3, 0, 0, 5, 1, 0, 9]) {
    await happens(`step ${happened}`)
    for (let piece = 0; piece < printed; piece += 1) await prints('a', Math.max(0, happened - (piece % 2)))
    happened += 1
  }
  const { moments } = await wholeHistory(1_000)
  for (let limit = 1; limit < 12; limit += 1) expect((await wholeHistory(limit)).moments).toEqual(moments)
})

test('what happens after the last page comes with the next', async () => {
  await happens('one')
  const first = await historyPage(log, id, { limit: 10 })
  expect(first).toMatchObject({ more: false, next: '1.0' })
  await prints('a', 0)
  const second = await historyPage(log, id, { after: first.next, limit: 10 })
  expect(second.items.map(momentOf)).toEqual(['t0'])
})

test('a page ends before its texts are too large, and still has one event', async () => {
  await happens('one')
  for (const text of ['a', 'b', 'c']) await writes(text.repeat(1_500_000), 0)
  expect((await wholeHistory(1_000)).pages).toEqual([2, 1, 1])
})

test('of a stream with long texts not many more events are read than fit on the page', async () => {
  await happens('one')
  const text = 'a'.repeat(10_000)
  const pieces = Array.from({ length: 600 }, () =>
    TerminalOutputRecorded.of({ ...attempt, kind: 'turn', channel: 'stdout' }, { text }),
  )
  await log.append(terminalStream(id), emptyHead, pieces, { ...cause(), follows: 0 })
  let read = 0
  const counting: Pick<EventLog, 'read' | 'headOf'> = {
    headOf: log.headOf,
    read: async (...range) => {
      const events = await log.read(...range)
      read += events.length
      return events
    },
  }
  const { items, more } = await historyPage(counting, id, { limit: 4_000 })
  expect({ shown: items.length, more, read: read < 300 }).toEqual({ shown: 200, more: true, read: true })
  const { pages, total } = await wholeHistory(4_000)
  expect({ pages, total }).toEqual({ pages: [200, 200, 200, 1], total: 601 })
})

test('words have the times at which they were written', async () => {
  await happens('one')
  await writes('hello', 0)
  const { items } = await wholeHistory(10)
  expect(items[1]).toMatchObject({ kind: 'delta', begunAt: '2026-01-01T00:00:00.000Z', chunks: [[5, 0]] })
})

test('of a stream with an unreadable event all before it is there, all of the other, and what is missing is said', async () => {
  await happens('one')
  await happens('two')
  await happens('three')
  await prints('a', 0)
  await prints('b', 2)
  const broken: Pick<EventLog, 'read' | 'headOf'> = {
    headOf: log.headOf,
    read: async (stream, from, limit) => {
      if (stream === taskStream(id) && from + limit > 1)
        throw new UnreadableEvent({ stream, revision: 1, type: 'TaskUpdated' }, 'broken_chain')
      return log.read(stream, from, limit)
    },
  }
  const { moments, missing } = await wholeHistory(1_000, broken)
  expect(moments).toEqual(['0', 't0', 't1'])
  expect(missing).toEqual([{ stream: 'task', revision: 1, reason: 'broken_chain' }])
})

test('what was erased is there without its words, and says so', async () => {
  await happens('one')
  await prints('a', 0)
  await engines.vault.destroy(scopeOfStream(taskStream(id)))
  const { items } = await wholeHistory(10)
  expect(items).toMatchObject([
    { kind: 'event', event: { type: 'TaskUpdated', content: null } },
    { kind: 'output', output: { content: '' }, erased: true },
  ])
})
