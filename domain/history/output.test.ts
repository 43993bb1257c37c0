import { expect, test } from 'vitest'
import { executionId, taskId } from '../../tests/domain/ids.ts'
import { recorded } from '../../tests/domain/recorded.ts'
import { completed } from '../../tests/domain/taskHistories.ts'
import { TerminalOutputRecorded } from '../task/terminalEvents.ts'
import { terminalItemOf, type HistoryItem } from './item.ts'
import { merged } from './order.ts'
import { withOutput } from './output.ts'
import { timelineOf } from './timeline.ts'

const events = completed.map((event, revision) => recorded(event, { revision }))

function printed(revision: number, follows: number) {
  const data = { executionId: executionId(1), attempt: 1, kind: 'turn', channel: 'stdout' } as const
  const event = recorded(TerminalOutputRecorded.of(data, { text: 'words' }), {
    revision,
    stream: `terminal-${taskId(1)}`,
  })
  return terminalItemOf({ ...event, meta: { ...event.meta, follows } })
}

test('recorder point 6: each piece of output stands with one row, the last that had begun', () => {
  const items: readonly HistoryItem[] = merged(
    events.map((event) => ({ kind: 'event', event })),
    [0, 1, 3, 3, 4, 5].map((follows, revision) => printed(revision, follows)),
  )
  const rows = withOutput(timelineOf(events, { person: 'Ada', repository: '' }), items).flatMap(
    (section) => section.rows,
  )
  const pieces = rows.flatMap(({ output }) => output)
  expect(pieces).toHaveLength(6)
  expect(pieces.map(({ index }) => items[index])).toEqual(pieces.map(({ item }) => item))
  for (const [at, { revision, output }] of rows.entries())
    for (const { item } of output) {
      expect(item.follows).toBeGreaterThanOrEqual(revision)
      expect(item.follows).toBeLessThan(rows[at + 1]?.revision ?? Infinity)
    }
})
