/** Answers which files an undo would change. */
import { isRefusal } from '#domain/kernel/decider.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { RpcResponse, RpcRequest } from '#platform/ports/rpc.ts'
import type { RecordingDeps, WorkspaceDeps } from '../deps.ts'
import { mirrored, reachAsPerson } from '../execution/repositoryAccess.ts'
import type { Workspace } from '../workspace/workspace.ts'

export type UndoPreviewDeps = WorkspaceDeps & Pick<RecordingDeps, 'blobs' | 'commands'>

const maxFiles = 1_000
const anyUndo = '00000000-0000-0000-0000-000000000000'

/** The files that an undo would change, or the reason why the undo is refused. Returns `undefined` if this runner cannot answer. */
export async function undoPreview(
  deps: UndoPreviewDeps,
  { taskId, executionId }: RpcRequest<'undoPreview'>,
): Promise<RpcResponse<'undoPreview'> | undefined> {
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  const decision = decider.decide({ type: 'UndoTurn', undoId: anyUndo, executionId }, state)
  if (isRefusal(decision)) return { kind: 'refused', code: decision.refused, sentence: decision.sentence }
  const [event] = decision
  if (state.kind !== 'task' || event?.type !== 'TurnsUndone') return undefined
  const workspace = await workspaceOf(deps, taskId)
  if (!workspace) return undefined
  const after = savedAfter(state, executionId)
  if (after && (await deps.snapshots.fetch(after, workspace)) !== null) return undefined
  const restored = await deps.snapshots.previewInPlace(after, workspace)
  if (restored.kind !== 'restored')
    return { kind: 'refused', code: 'no_snapshot', sentence: restored.message }
  const { files, kept } = restored
  return {
    kind: 'preview',
    files: files.slice(0, maxFiles),
    total: files.length,
    kept: kept.slice(0, maxFiles),
  }
}

function savedAfter({ restorePoints: { points }, origin }: LiveTask, executionId: string) {
  const before = points.findLast((point) => point.executionId === executionId)?.before ?? null
  return before === null ? (origin?.snapshot ?? null) : (points[before]?.snapshot ?? null)
}

/**
 * This runner's workspace of a task; `undefined` if there is none, or no such task or project. Throws if the task's owner may no longer use this
 * server, or has no valid token of the code host.
 */
export async function workspaceOf(deps: UndoPreviewDeps, taskId: string): Promise<Workspace | undefined> {
  const task = await deps.documents.get(tasksView, taskId)
  const reached = task && (await reachAsPerson(deps, task))
  if (reached?.kind !== 'reached') return undefined
  const mirror = await deps.mirrors.find(mirrored(reached))
  return mirror && deps.workspaces.read(taskId, mirror)
}
