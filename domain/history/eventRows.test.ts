/** The timeline shows what is known about a clean-up. */
import { expect, test } from 'vitest'
import type { BranchOutcome, WorkspaceOutcome } from '../api/cleanUp.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'
import { rowOf } from './eventRows.ts'

test.each<readonly [BranchOutcome, WorkspaceOutcome, string]>([
  ['deleted', 'none', 'Removed the branch and the workspace'],
  ['moved', 'not_saved', 'Clean-up left the branch and the workspace in place'],
  ['unavailable', 'removed', 'Clean-up may have left the branch'],
  ['no_access', 'unreachable', 'Clean-up may have left the branch and the workspace'],
  ['refused', 'unreachable', 'Clean-up left the branch in place and may have left the workspace'],
])('%s, %s: %s', (branch, workspace, sentence) => {
  const event = {
    type: 'TaskCleanedUp',
    data: { requestId: 'r', branch, workspace, startsAnew: false },
  } as TaskEventMessage
  const row = rowOf(event, { person: 'Ada', repository: 'ada/website' }, { agent: 'claude', kind: 'turn' })
  expect(row?.sentence).toBe(sentence)
})
