/** Clean-up after a pull request: what asking for it and its outcome lead to. */
import { isBranchGone } from '../api/cleanUp.ts'
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { CommandOf } from './commands.ts'
import { TaskCleanedUp, TaskCleanUpRequested } from './cleanUpEvents.ts'
import type { TaskEvent } from './events.ts'
import { endOf } from './pullRequest.ts'
import type { LiveTask } from './state.ts'

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

/** Notes what became of it. What ends after another was asked for says nothing any more. */
export function settleCleanUp(
  { cleanUp, phase }: LiveTask,
  { requestId, branch, workspace, startsAnew }: CommandOf<'SettleCleanUp'>,
): Decision<TaskEvent> {
  // While the branch stands at the code host, work goes on where it stands; a turn that began meanwhile has its workspace already.
  const begins = startsAnew && isBranchGone(branch) && !('execution' in phase)
  const event = TaskCleanedUp.of({ requestId, branch, workspace, startsAnew: begins })
  return cleanUp.request === requestId ? [event] : []
}
