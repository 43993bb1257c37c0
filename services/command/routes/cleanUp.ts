/** Clean-up of a task whose pull request is over: the branch at the code host, and the workspace on the server. */
import { v5 as uuidv5 } from 'uuid'
import type { WorkspaceOutcome } from '#domain/api/cleanUp.ts'
import { cleanUpTask } from '#domain/api/cleanUp.schema.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { cleanUpBranch } from '../cleanup/mergedBranch.ts'
import { answerTask, executeOnTask, ownTask, route, type CommandServices } from '../services.ts'

/** With the rest of the request below the client's time-out of 30 s. */
const runnerWithinMs = 15_000

export const cleanUpRoutes: readonly Route<CommandServices>[] = [
  // What has gone is gone: asking again, also after a crash in between, tries only what is left.
  route(cleanUpTask, signedIn, ownTask, async ({ params: { taskId }, ...asked }, services) => {
    const { actor, commandId: requestId } = asked
    const executed = await executeOnTask(services, taskId, asked, { type: 'RequestCleanUp', requestId })
    const { state } = executed
    if (state.kind !== 'task' || state.cleanUp.request !== requestId)
      return answerTask(services, taskId, executed)
    const { outcome: workspace, startsAnew } = await workspaceRemoved(services, state)
    // What was not merged must be known to be saved before its branch goes.
    const isMerged = state.pullRequest?.observed?.state === 'merged'
    const branch = isMerged || workspace === 'removed' ? await cleanUpBranch(services, state) : 'only_copy'
    const outcome = { requestId, branch, workspace, startsAnew }
    const settled = await services.commands.execute(
      task,
      taskStream(taskId),
      { type: 'SettleCleanUp', ...outcome },
      { actor, commandId: uuidv5('settled', requestId) },
    )
    return answerTask(services, taskId, settled)
  }),
]

async function workspaceRemoved(
  { rpc }: Pick<CommandServices, 'rpc'>,
  { taskId, lastRunnerId: runnerId }: LiveTask,
): Promise<{ readonly outcome: WorkspaceOutcome; readonly startsAnew: boolean }> {
  if (runnerId === null) return { outcome: 'none', startsAnew: false }
  const answered = await rpc.ask('removeWorkspace', { taskId, runnerId }, runnerWithinMs)
  return answered ?? { outcome: 'unreachable', startsAnew: false }
}
