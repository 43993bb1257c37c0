/** Which turn wrote each line of a file. */
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import { provenanceOf } from '../workspace/saved/provenance.ts'
import { workspaceOf, type UndoPreviewDeps } from './undoPreview.ts'

/** In a longer file, lines come without the hashes that tell their calls: the answer stays small. */
const maxHashedLines = 10_000

export async function lineOrigins(
  deps: UndoPreviewDeps,
  { taskId, path }: Asked<'origins'>,
): Promise<Answered<'origins'> | undefined> {
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  const workspace = state.kind === 'task' ? await workspaceOf(deps, taskId) : undefined
  if (state.kind !== 'task' || !workspace) return undefined
  const turns = await deps.snapshots.counting(state, workspace)
  const { git } = deps
  const { privateGitDir, startCommit } = workspace
  const isUndone = state.restorePoints.points.at(-1)?.kind === 'undo'
  const found = await provenanceOf({ git, privateGitDir, startCommit, turns, isUndone }, path)
  if (found === null) return { ranges: null }
  const isLong = (found.ranges.at(-1)?.to ?? 0) > maxHashedLines
  return {
    ranges: found.ranges.map(({ turn: executionId, hashes, path: then, ...range }) => ({
      ...range,
      executionId,
      ...(executionId !== null && then !== path && { path: then }),
      ...(executionId !== null && !isLong && { hashes }),
    })),
    blob: found.blob,
    turns: state.restorePoints.points.flatMap(({ kind, executionId }) =>
      kind === 'undo' ? [] : [executionId],
    ),
  }
}
