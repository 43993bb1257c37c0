/** What an undo would do. */
import { previewUndo } from '#domain/api/fork.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

/** Only the runner that has the workspace can compare its files. */
const comparedWithinMs = 10_000

export const undoRoutes: readonly Route<QueryServices>[] = [
  route(previewUndo, signedIn, fresh, ownTask, async ({ task, query }, { rpc }) => {
    const { executionId } = query
    if (task.status === 'queued' || task.status === 'running') throw new Fault('task_running')
    const answer = await rpc.ask('undoPreview', { taskId: task.id, executionId }, comparedWithinMs)
    if (answer?.kind === 'refused') throw new Fault(answer.code, answer.sentence)
    if (!answer) return { files: [], total: 0, kept: [], undone: [], redone: [], compared: false }
    const { kind: _kind, files, kept, undone, redone, total } = answer
    return {
      files: [...files],
      total,
      kept: [...kept],
      undone: [...undone],
      redone: [...redone],
      compared: true,
    }
  }),
]
