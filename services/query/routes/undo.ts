/** The route that previews an undo. Its turns come from the log, and its files from the runner that has the workspace. */
import { randomUUID } from 'node:crypto'
import { previewUndo } from '#domain/api/fork.schema.ts'
import { isRefusal } from '#domain/kernel/decider.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

/** How long to wait for the runner that has the workspace. No other runner can compare the files. */
const comparisonTimeoutMs = 10_000

export const undoRoutes: readonly Route<QueryServices>[] = [
  route(previewUndo, signedIn, fresh, ownTask, async ({ task, query }, { rpc, commands }) => {
    const { executionId } = query
    const { state } = await commands.load(decider, taskStream(task.id))
    const decision = decider.decide({ type: 'UndoTurn', undoId: randomUUID(), executionId }, state)
    if (isRefusal(decision)) throw new Fault(decision.refused, decision.sentence)
    const [event] = decision
    const { undone, redone } = event?.type === 'TurnsUndone' ? event.data : { undone: [], redone: [] }
    const turns = { undone: [...undone], redone: [...redone] }
    const answer = await rpc.call(
      'undoPreview',
      { taskId: task.id, ownerId: task.owner, executionId },
      comparisonTimeoutMs,
    )
    if (answer?.kind === 'refused') throw new Fault(answer.code, answer.sentence)
    if (!answer) return { ...turns, files: [], total: 0, kept: [], compared: false }
    const { files, kept, total } = answer
    return { ...turns, files: [...files], total, kept: [...kept], compared: true }
  }),
]
