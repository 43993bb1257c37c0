/** Which turn wrote each line of a file. */
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import { countingSnapshots } from '../execution/recording/savedWork.ts'
import { provenanceOf } from '../workspace/saved/provenance.ts'
import { workspaceOf, type UndoPreviewDeps } from './undoPreview.ts'

export async function lineOrigins(
  deps: UndoPreviewDeps,
  { taskId, path }: Asked<'origins'>,
): Promise<Answered<'origins'> | undefined> {
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  const workspace = state.kind === 'task' ? await workspaceOf(deps, taskId) : undefined
  if (state.kind !== 'task' || !workspace) return undefined
  const turns = await countingSnapshots(deps, state, workspace)
  const { git } = deps
  const { privateGitDir, startCommit } = workspace
  const found = await provenanceOf({ git, privateGitDir, startCommit, turns }, path)
  if (found === null) return { ranges: null }
  return {
    ranges: found.ranges.map(({ from, to, turn }) => ({ from, to, executionId: turn })),
    blob: found.blob,
    turns: state.restorePoints.points.flatMap(({ kind, executionId }) =>
      kind === 'undo' ? [] : [executionId],
    ),
  }
}
