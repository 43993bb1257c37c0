/** The terminal's answers show what its stream has at that moment, also when they were kept from an earlier request. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import type { getTerminal } from '#domain/api/chat.schema.ts'
import { scopeOfStream, terminalStream } from '#domain/kernel/streams.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { emptyHead, type EventLog, type Head } from '#platform/eventlog/eventLog.ts'
import { executionId, taskId } from '../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { terminalTexts } from './terminalAnswers.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const task = { id: taskId(1), execution: null }

async function print(head: Head, ...texts: readonly string[]): Promise<Head> {
  const place = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  const events = texts.map((text) => TerminalOutputRecorded.of(place, { text }))
  const appended = await engines.log.append(terminalStream(task.id), head, events, cause())
  if (appended.kind === 'conflict') throw new Error('Nobody else prints.')
  return appended.head
}

/** Reads pages, and counts how often more than the last event of the stream is read. */
function reading() {
  let reads = 0
  const log: EventLog = {
    ...engines.log,
    readBackwards: (...range) => {
      if (range[2] > 1) reads += 1
      return engines.log.readBackwards(...range)
    },
  }
  const texts = terminalTexts({ log })
  return {
    reads: () => reads,
    async page(limit = 5_000) {
      const bytes = await texts.of(task, { limit, before: undefined })
      const { output, version }: AnswerOf<typeof getTerminal> = JSON.parse(bytes.toString('utf8'))
      return { printed: output.map(({ content }) => content), version }
    },
  }
}

test('an unchanged stream is read once, and what is appended is shown at once', async () => {
  const { page, reads } = reading()
  expect(await page()).toEqual({ printed: [], version: -1 })
  const head = await print(emptyHead, 'one', 'twö')
  expect(await page()).toEqual({ printed: ['one', 'twö'], version: 1 })
  const before = reads()
  expect(await page()).toEqual({ printed: ['one', 'twö'], version: 1 })
  expect(reads()).toBe(before)
  await print(head, 'three')
  expect(await page()).toEqual({ printed: ['one', 'twö', 'three'], version: 2 })
})

test('what was erased is no longer shown', async () => {
  const { page } = reading()
  await print(emptyHead, 'one', 'two')
  expect((await page()).printed).toEqual(['one', 'two'])
  await engines.vault.destroy(scopeOfStream(terminalStream(task.id)))
  expect((await page()).printed).toEqual(['', ''])
  expect((await page()).printed).toEqual(['', ''])
})

test('of short answers too, only the last thousands are kept', async () => {
  const { page, reads } = reading()
  await print(emptyHead, 'one')
  for (let limit = 1; limit <= 2_500; limit += 1) await page(limit)
  const before = reads()
  await page(2_500)
  expect(reads()).toBe(before)
  await page(1)
  expect(reads()).toBe(before + 1)
})

test('pages of different lengths are different answers', async () => {
  const { page } = reading()
  await print(emptyHead, 'one', 'two')
  expect((await page(1)).printed).toEqual(['two'])
  expect((await page()).printed).toEqual(['one', 'two'])
  expect((await page(1)).printed).toEqual(['two'])
})

test('an answer without a limit ends at a length, with the newest output', async () => {
  const { page } = reading()
  const pieces = Array.from({ length: 1_100 }, (_, at) => `${at}`.padEnd(16_000, '.'))
  await print(emptyHead, ...pieces)
  const { printed } = await page()
  expect(printed.join('').length).toBeLessThan(16_100_000)
  expect(printed.at(-1)).toBe(pieces.at(-1))
})
