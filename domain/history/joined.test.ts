/** Pieces of a history, joined and separated again: nothing is lost, whatever follows what. */
import { expect, test } from 'vitest'
import type { DeltaItem, HistoryItem, OutputItem } from './item.ts'
import { joined, separated } from './joined.ts'

const at = (ms: number) => new Date(1_800_000_000_000 + ms).toISOString()

function output(version: number, changed: Partial<OutputItem['output']> = {}, follows = 3): OutputItem {
  const place = { position: String(100 + 2 * version), version, timestamp: at(version * 40) }
  const from = { taskId: 'task', type: 'stdout', executionId: 'turn' } as const
  return { kind: 'output', follows, output: { ...from, content: `line ${version}\n`, ...place, ...changed } }
}

function delta(version: number, offset: number, changed: Partial<DeltaItem> = {}): DeltaItem {
  const words = { taskId: 'task', messageId: 'message', executionId: 'turn', text: 'four', offset }
  return {
    kind: 'delta',
    follows: 3,
    delta: { ...words, position: String(200 + version), version },
    at: at(version * 40),
    begunAt: at(version * 40 - 15),
    chunks: [
      [2, 0],
      [2, 15],
    ],
    ...changed,
  }
}

const shell = { rows: 24, columns: 80 }
const large = '9007199254740993'

test.each<[string, number, readonly HistoryItem[]]>([
  ['output of one program', 1, [output(0), output(1), output(2, { content: '' })]],
  ['output that follows another event', 2, [output(0), output(1, {}, 4)]],
  ['output of another channel', 2, [output(0), output(1, { type: 'stderr' })]],
  ['output of another execution', 2, [output(0), output(1, { executionId: 'other' })]],
  ['output of a shell', 1, [output(0, { shell }), output(1, { shell: { ...shell } })]],
  [
    'output of a shell that was resized',
    2,
    [output(0, { shell }), output(1, { shell: { ...shell, rows: 9 } })],
  ],
  ['the end of a shell', 2, [output(0, { shell }), output(1, { shell: { ...shell, ended: 'exited' } })]],
  ['a gap', 2, [output(0), output(2)]],
  ['erased output', 2, [output(0), { ...output(1, { content: '' }), erased: true }]],
  ['a time without milliseconds', 2, [output(0), output(1, { timestamp: '2026-01-01T00:00:00Z' })]],
  ['a position that no number is exact for', 2, [output(0), output(1, { position: large })]],
  ['the words of a message', 1, [delta(0, 0), delta(1, 4), delta(2, 8, { chunks: [] })]],
  ['words that do not continue the message', 2, [delta(0, 0), delta(1, 40)]],
  ['words after output', 2, [output(0), delta(1, 0)]],
])('%s', (_, count, items) => {
  const once = joined(items)
  expect(once).toHaveLength(count)
  expect(separated(JSON.parse(JSON.stringify(once)))).toEqual(items)
})
