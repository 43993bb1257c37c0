/** The route that undoes a turn, a command or an earlier undo. */
import { v5 as uuidv5 } from 'uuid'
import { undoTurn } from '#domain/api/fork.schema.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { awaitEvent } from '#platform/eventlog/awaitEvent.ts'
import { signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import {
  answerTask,
  executeOnTask,
  ownTask,
  route,
  taskAfter,
  written,
  type CommandServices,
} from '../services.ts'

/** How long to wait until the files are restored, which usually takes less than a second. */
const restoreTimeoutMs = 10_000

export const undoRoutes: readonly Route<CommandServices>[] = [
  route(undoTurn, signedIn, ownTask, async ({ params, body, ...request }, services) => {
    const { taskId } = params
    const undoId = uuidv5('undo', request.commandId)
    const { executionId } = body
    const undo = { type: 'UndoTurn', undoId, executionId } as const
    const executed = await executeOnTask(services, taskId, request, undo)
    const isPending = executed.state.kind === 'task' && executed.state.pendingRestore?.executionId === undoId
    const done = isPending
      ? await awaitEvent(services, {
          stream: taskStream(taskId),
          from: executed.head.revision,
          withinMs: restoreTimeoutMs,
          match: (event): event is Restored => isRestored(event) && event.data.executionId === undoId,
        })
      : undefined
    if (!done) return { ...(await answerTask(services, taskId, executed)), undoId, restored: !isPending }
    const placed = await written(done.position, services)
    const head = { revision: done.revision, hash: done.meta.hash }
    return { task: await taskAfter(services, taskId, head), undoId, restored: true, ...placed }
  }),
]

type Restored = Extract<AnyRecorded, { type: 'WorkspaceRestored' }>
const isRestored = (event: AnyRecorded): event is Restored => event.type === 'WorkspaceRestored'
