/** Clean-up of a task whose pull request was merged or closed: its route, and the outcome of each part. */
import type { Routes } from './route.ts'

export const cleanUpRoutes = {
  cleanUpTask: { method: 'POST', path: '/tasks/:taskId/cleanup' },
} as const satisfies Routes

/**
 * The outcome of a clean-up for the branch at the code host.
 * - `deleted`: Flightdeck deleted it. `gone`: it had been deleted before.
 * - `moved`: it is still there, because its last commit is not the last known commit of the pull request.
 * - `in_use`: it is still there, because another task or pull request uses it, or because its own task was continued.
 * - `only_copy`: it is still there, because its work was not merged and may exist nowhere else.
 * - `refused`: it is still there, because the code host refused the deletion, for example of a protected branch, or a check before it.
 * - `unchecked`: it is still there, because the code host stopped answering or took no more requests before the deletion.
 * - `not_ours`: it was left alone, because it is a default or base branch, was not named by Flightdeck, is in another repository, or is not known.
 * - `no_access`: its state is unknown, because the person cannot reach the repository.
 * - `unavailable`: its state is unknown, because the code host did not answer a request about it or the request to delete it.
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
 * The outcome of a clean-up for the workspace.
 * - `removed`: Flightdeck removed it. `none`: there was no workspace.
 * - `not_saved`: it is still there, because its work is not merged and could not be restored from saved copies.
 * - `in_use`: it is still there, because something uses it, the task was continued, or the pull request is open again.
 * - `unreachable`: its state is unknown, because its runner, or the code host that the runner has to ask, refused or did not answer in time. The
 *   workspace may still be removed later.
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
