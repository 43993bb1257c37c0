/** Having things ready before a task is there: asked of a runner, and nobody waits for it. */
import { prepareTask } from '#domain/api/tasks.schema.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownProject, route, type CommandServices } from '../services.ts'

/** A runner answers when it has begun. */
const begunWithinMs = 1_000

export const prepareRoutes: readonly Route<CommandServices>[] = [
  route(prepareTask, signedIn, ownProject, async ({ params, body, user }, services) => {
    const { taskId, branch, agent, codexModel = null } = body
    const { state } = await services.commands.load(task, taskStream(taskId))
    // A task that is there by now needs none of it, whosoever it is.
    if (state.kind !== 'none') return { success: true as const }
    const asked = { taskId, ownerId: user.id, projectId: params.projectId, branch, agent, model: codexModel }
    await services.rpc.ask('prepare', asked, begunWithinMs)
    return { success: true as const }
  }),
]
