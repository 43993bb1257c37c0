/** Clean-up after a pull request: what asking for it and its outcome lead to. */
import { isBranchGone } from '../../api/cleanUp.ts'
import type { Decision } from '../../kernel/decider.ts'
import { refuse } from '../../kernel/errors.ts'
import type { CommandOf } from '../commands.ts'
import { TaskCleanedUp, TaskCleanUpBegun, TaskCleanUpRequested } from './cleanUpEvents.ts'
import type { TaskEvent } from '../events.ts'
import { endOf } from './pullRequest.ts'
import type { LiveTask } from '../state.ts'

/** Only after the end of the pull request: before it, branch and workspace are what the next turn goes on with. */
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

/** Why the task needs its branch and its workspace; `null` where it does not. */
export function whyNotOver({
  pullRequest,
  phase,
  pullRequestRequest,
}: LiveTask): 'task_running' | 'pull_request_open' | null {
  if ('execution' in phase || pullRequestRequest !== null) return 'task_running'
  return pullRequest === null || endOf(pullRequest) === null ? 'pull_request_open' : null
}

/** Notes where the work is, before anything of the workspace goes. Refused once the task goes on. */
export function beginCleanUp(state: LiveTask, { work }: CommandOf<'BeginCleanUp'>): Decision<TaskEvent> {
  const why = whyNotOver(state)
  return why === null ? [TaskCleanUpBegun.of({ work })] : refuse(why)
}

/** Notes what became of it. What ends after another was asked for says nothing any more. */
export function settleCleanUp(
  { cleanUp, phase }: LiveTask,
  { requestId, branch, workspace }: CommandOf<'SettleCleanUp'>,
): Decision<TaskEvent> {
  if (cleanUp.request !== requestId) return []
  // While the branch stands at the code host, work goes on where it stands; a turn that began meanwhile makes its workspace already.
  const begins = cleanUp.work === 'merged' && isBranchGone(branch) && !('execution' in phase)
  return [TaskCleanedUp.of({ requestId, branch, workspace, startsAnew: begins })]
}
