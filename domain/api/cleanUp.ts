/** Clean-up of a task whose pull request was merged or closed: its route, and the outcome of each part. */
import type { Routes } from './route.ts'

export const cleanUpRoutes = {
  cleanUpTask: { method: 'POST', path: '/tasks/:taskId/cleanup' },
} as const satisfies Routes

/**
 * The outcome for the branch at the code host.
 * The branch is gone: `deleted` by us, or `gone` because it had been deleted before.
 * The branch is still there: somebody pushed to it after the pull request ended (`moved`), another task or pull request uses it or the task itself
 * goes on (`in_use`), its work was not merged and may exist nowhere else (`only_copy`), the code host refused the deletion, as for a protected branch
 * (`refused`), or the code host stopped answering before the deletion (`unchecked`).
 * The branch was left alone, perhaps without a check: it is a default or base branch, or we did not name it (`not_ours`).
 * The state of the branch is unknown: the person cannot reach the repository (`no_access`), or the code host did not answer, perhaps only to the
 * deletion (`unavailable`).
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
 * The outcome for the workspace.
 * The workspace is gone: `removed` by us, or there was `none`.
 * The workspace is still there: its work is not merged and could not be restored from what was saved (`not_saved`), or something runs in it (`in_use`).
 * The state of the workspace is unknown: its runner, or the code host that the runner has to ask, refused or did not answer in time (`unreachable`).
 * In that case the workspace may still be removed later.
 */
export const workspaceOutcomes = ['removed', 'none', 'not_saved', 'in_use', 'unreachable'] as const
export type WorkspaceOutcome = (typeof workspaceOutcomes)[number]

/** Whether the branch was seen at the code host and left there. */
export const isBranchThere = (outcome: BranchOutcome): boolean =>
  (['moved', 'in_use', 'only_copy', 'refused', 'unchecked'] as const).some((there) => there === outcome)
export const isBranchUnknown = (outcome: BranchOutcome): boolean =>
  outcome === 'no_access' || outcome === 'unavailable'

/** Whether the branch no longer exists. */
export const isBranchGone = (outcome: BranchOutcome): boolean => outcome === 'deleted' || outcome === 'gone'
export const isWorkspaceUnknown = (outcome: WorkspaceOutcome): boolean => outcome === 'unreachable'
export const isWorkspaceGone = (outcome: WorkspaceOutcome): boolean =>
  outcome === 'removed' || outcome === 'none'
