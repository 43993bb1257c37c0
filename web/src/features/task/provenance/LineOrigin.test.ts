import { expect, test } from 'vitest'
import { originOf } from './LineOrigin.tsx'
import type { Provenance } from './provenanceApi.ts'

const blob = 'b'.repeat(40)
const turn = { taskId: 't', executionId: 'e', kind: 'turn', number: 1, moment: 7, agent: 'claude' } as const
const call = {
  id: 'c',
  kind: 'edit',
  name: 'Edit',
  target: 'x',
  additions: 2,
  deletions: 0,
  moment: 6,
} as const
const known: Provenance = {
  blob,
  ranges: [
    { from: 1, to: 2, executionId: null, callId: null },
    { from: 3, to: 4, executionId: 'e', callId: 'c' },
    { from: 5, to: 5, executionId: 'e', callId: null },
  ],
  turns: [
    {
      ...turn,
      messageId: 'm',
      prompt: 'Do it',
      at: null,
      edits: [],
      otherCalls: 0,
      call: null,
      calls: [call],
    },
  ],
}
const diff = (after: string) =>
  `diff --git a/x b/x\nindex ${'a'.repeat(40)}..${after} 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n+index c..d\n`

test('a line is of the turn whose range it is in, and unknown elsewhere', () => {
  expect(originOf(known, diff(blob), 3)).toMatchObject({ kind: 'turn', turn: { executionId: 'e' } })
  expect(originOf(known, diff(blob), 5)).toMatchObject({ kind: 'turn' })
  expect(originOf(known, diff(blob), 2)).toEqual({ kind: 'unknown' })
  expect(originOf(known, diff(blob), 6)).toEqual({ kind: 'unknown' })
})

test('recorder M8: a line is of the call that its range names, and of none where it names none', () => {
  expect(originOf(known, diff(blob), 4)).toMatchObject({ turn: { call } })
  expect(originOf(known, diff(blob), 5)).toMatchObject({ turn: { call: null } })
})

test('of a file that is another than at the end of the last turn nothing is said', () => {
  expect(originOf(known, diff('c'.repeat(40)), 3)).toEqual({ kind: 'changed' })
  expect(originOf({ ...known, blob: null }, diff(blob), 3)).toEqual({ kind: 'changed' })
  expect(originOf(known, 'Binary files differ\n', 3)).toEqual({ kind: 'changed' })
})
