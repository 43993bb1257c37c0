/** The timeline's rows about clean-ups. */
import {
  isBranchGone,
  isBranchUnknown,
  isWorkspaceGone,
  isWorkspaceUnknown,
  type BranchOutcome,
  type WorkspaceOutcome,
} from '../api/cleanUp.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'

/** `null` for other events, and for the beginning of a clean-up. */
export function ofCleanUp(event: TaskEventMessage) {
  const kind = 'pull_request' as const
  if (event.type === 'TaskCleanUpRequested')
    return { kind, sentence: 'Asked to clean up after the pull request', who: 'person' as const }
  if (event.type !== 'TaskCleanedUp') return null
  const who = 'runner' as const
  const left = leftBy(event.data)
  return left === null
    ? { kind, sentence: 'Removed the branch and the workspace', outcome: 'completed' as const, who }
    : { kind, sentence: left, outcome: 'failed' as const, who }
}

/** The parts that are left or may be left of branch and workspace; `null` when none is. */
function leftBy(outcome: {
  readonly branch: BranchOutcome
  readonly workspace: WorkspaceOutcome
}): string | null {
  const { branch, workspace } = outcome
  const unknown = [
    ...(isBranchUnknown(branch) ? ['the branch'] : []),
    ...(isWorkspaceUnknown(workspace) ? ['the workspace'] : []),
  ]
  const kept = [
    ...(isBranchGone(branch) || isBranchUnknown(branch) ? [] : ['the branch']),
    ...(isWorkspaceGone(workspace) || isWorkspaceUnknown(workspace) ? [] : ['the workspace']),
  ]
  const said = [
    ...(kept.length === 0 ? [] : [`left ${kept.join(' and ')} in place`]),
    ...(unknown.length === 0 ? [] : [`may have left ${unknown.join(' and ')}`]),
  ]
  return said.length === 0 ? null : `Clean-up ${said.join(' and ')}`
}
