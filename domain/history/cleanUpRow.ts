/** What the timeline says of a clean-up. */
import {
  isBranchGone,
  isBranchUnknown,
  isWorkspaceGone,
  isWorkspaceUnknown,
  type BranchOutcome,
  type WorkspaceOutcome,
} from '../api/cleanUp.ts'

/** Which of branch and workspace are left or may be left, in words; `null` when none is. */
export function leftBy(outcome: {
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
