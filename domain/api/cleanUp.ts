/** Clean-up of a task whose pull request is over: its route, and what becomes of each part. */
import type { Routes } from './route.ts'

export const cleanUpRoutes = {
  cleanUpTask: { method: 'POST', path: '/tasks/:taskId/cleanup' },
} as const satisfies Routes

/**
 * What became of the branch at the code host. It is gone when it was `deleted`, or had been (`gone`). It was seen and is there still when
 * somebody pushed to it since the pull request ended (`moved`), another task or pull request uses it or the task itself goes on (`in_use`), its
 * work was not merged and may be nowhere else (`only_copy`), the code host refused, as for a protected branch (`refused`), or stopped answering
 * before it was deleted (`unchecked`). It was left alone, and perhaps not looked for, when it is a default or base branch or has no name of ours
 * (`not_ours`). Whether it is there is not known when the person cannot reach the repository (`no_access`), or the code host did not answer,
 * perhaps only to the deletion (`unavailable`).
 */
export const branchOutcomes = [
  'deleted',
  'gone',
  'moved',
  'in_use',
  'not_ours',
  'only_copy',
  'no_access',
  'refused',
  'unchecked',
  'unavailable',
] as const
export type BranchOutcome = (typeof branchOutcomes)[number]

/**
 * What became of the workspace. It is gone when it was `removed`, or there was none (`none`). It is there still when it holds work that is
 * not merged and could not be restored from what was saved (`not_saved`), or something runs in it (`in_use`). Whether it is there is not known
 * when its runner, or the code host that the runner has to ask, did not answer in time or refused (`unreachable`): it may still be removed.
 */
export const workspaceOutcomes = ['removed', 'none', 'not_saved', 'in_use', 'unreachable'] as const
export type WorkspaceOutcome = (typeof workspaceOutcomes)[number]

/** Whether the branch was seen at the code host, and left there. */
export const isBranchThere = (outcome: BranchOutcome): boolean =>
  (['moved', 'in_use', 'only_copy', 'refused', 'unchecked'] as const).some((there) => there === outcome)
/** Whether it is not known if it is there still. */
export const isBranchUnknown = (outcome: BranchOutcome): boolean =>
  outcome === 'no_access' || outcome === 'unavailable'

/** Whether nothing is left of the branch, or of the workspace. */
export const isBranchGone = (outcome: BranchOutcome): boolean => outcome === 'deleted' || outcome === 'gone'
export const isWorkspaceUnknown = (outcome: WorkspaceOutcome): boolean => outcome === 'unreachable'
export const isWorkspaceGone = (outcome: WorkspaceOutcome): boolean =>
  outcome === 'removed' || outcome === 'none'
