/** Decides about the clean-up of a task whose pull request was merged or closed: the clean-up's request, beginning and outcome. */
import { isBranchGone } from '../../api/cleanUp.ts'
import type { Decision } from '../../kernel/decider.ts'
import { refuse } from '../../kernel/errors.ts'
import type { CommandOf } from '../commands.ts'
import { TaskCleanedUp, TaskCleanUpBegun, TaskCleanUpRequested } from './cleanUpEvents.ts'
import type { TaskEvent } from '../events.ts'
import { endOf } from './pullRequest.ts'
import type { LiveTask } from '../state.ts'

/** Records the request for a clean-up. Refuses unless the pull request was merged or closed, and while something runs or is being published. */
export function requestCleanUp(
  { pullRequest, phase, pullRequestRequest }: LiveTask,
  { requestId }: CommandOf<'RequestCleanUp'>,
): Decision<TaskEvent> {
  if (pullRequest === null) return refuse('not_found', 'This task has no pull request.')
  if (endOf(pullRequest) === null) return refuse('pull_request_open')
  if ('execution' in phase) return refuse('task_running')
  if (pullRequestRequest !== null)
    return refuse('task_running', 'A pull request of this task is being published. Try again in a moment.')
  return [TaskCleanUpRequested.of({ requestId })]
}

/** Why the task still needs its branch and workspace; `null` when it no longer needs them. */
export function whyNotOver({
  pullRequest,
  phase,
  pullRequestRequest,
}: LiveTask): 'task_running' | 'pull_request_open' | null {
  if ('execution' in phase || pullRequestRequest !== null) return 'task_running'
  return pullRequest === null || endOf(pullRequest) === null ? 'pull_request_open' : null
}

/** Records where the task's work is, before the workspace is removed. Refuses if the task was continued, or its pull request is open again. */
export function beginCleanUp(state: LiveTask, { work }: CommandOf<'BeginCleanUp'>): Decision<TaskEvent> {
  const why = whyNotOver(state)
  return why === null ? [TaskCleanUpBegun.of({ work })] : refuse(why)
}

/** Records the outcome of a clean-up. Outcomes of earlier requests are ignored. */
export function settleCleanUp(
  { cleanUp, phase }: LiveTask,
  { requestId, branch, workspace }: CommandOf<'SettleCleanUp'>,
): Decision<TaskEvent> {
  if (cleanUp.request !== requestId) return []
  // The next workspace starts from the base branch if all work was merged, the branch is gone, and no turn is already making a workspace.
  const begins = cleanUp.work === 'merged' && isBranchGone(branch) && !('execution' in phase)
  return [TaskCleanedUp.of({ requestId, branch, workspace, startsAnew: begins })]
}
