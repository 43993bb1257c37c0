/** The route that cleans up a task after its pull request: it removes the branch at the code host and the workspace on the runner. */
import { v5 as uuidv5 } from 'uuid'
import { cleanUpTask } from '#domain/api/cleanUp.schema.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { cleanUp } from '../pullRequest/cleanUp.ts'
import { answerTask, executeOnTask, ownTask, route, type CommandServices } from '../services.ts'

export const cleanUpRoutes: readonly Route<CommandServices>[] = [
  // A repeated request, for example after a crash, only tries to remove what is left.
  route(cleanUpTask, signedIn, ownTask, async ({ params: { taskId }, ...request }, services) => {
    const { actor, commandId: requestId } = request
    const executed = await executeOnTask(services, taskId, request, { type: 'RequestCleanUp', requestId })
    const { state } = executed
    if (state.kind !== 'task' || state.cleanUp.request !== requestId)
      return answerTask(services, taskId, executed)
    const outcome = await cleanUp(services, state)
    const settled = await services.commands.execute(
      task,
      taskStream(taskId),
      { type: 'SettleCleanUp', requestId, ...outcome },
      { actor, commandId: uuidv5('settled', requestId) },
    )
    return answerTask(services, taskId, settled)
  }),
]
