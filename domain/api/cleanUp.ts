/** Clean-up of a task whose pull request is over: its route, and what becomes of each part. */
import type { Routes } from './route.ts'

export const cleanUpRoutes = {
  cleanUpTask: { method: 'POST', path: '/tasks/:taskId/cleanup' },
} as const satisfies Routes

/**
 * What became of the branch at the code host. It is gone when it was `deleted`, or had been (`gone`). Otherwise it is there still: somebody
 * pushed to it since the pull request ended (`moved`), another task or pull request uses it (`in_use`), it is the default branch or has no
 * name of ours (`not_ours`), its work was not merged and may be nowhere else (`only_copy`), the person's access is missing (`no_access`), the code host refused, as for a protected branch (`refused`), or
 * it could not be asked (`unavailable`).
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
  'unavailable',
] as const
export type BranchOutcome = (typeof branchOutcomes)[number]

/**
 * What became of the workspace. It is gone when it was `removed`, or there was none (`none`). Otherwise it is there still: it holds work that
 * is neither pushed nor saved (`not_saved`), something runs in it (`in_use`), or its runner does not answer (`unreachable`).
 */
export const workspaceOutcomes = ['removed', 'none', 'not_saved', 'in_use', 'unreachable'] as const
export type WorkspaceOutcome = (typeof workspaceOutcomes)[number]

/** Whether nothing is left of the branch, or of the workspace. */
export const isBranchGone = (outcome: BranchOutcome): boolean => outcome === 'deleted' || outcome === 'gone'
export const isWorkspaceGone = (outcome: WorkspaceOutcome): boolean =>
  outcome === 'removed' || outcome === 'none'
