/** Which turn wrote each line of a file. */
import { taskStream } from '#domain/kernel/streams.ts'
import { countingAt } from '#domain/task/restorePoints.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import type { Answered, Asked } from '#platform/ports/rpc.ts'
import { fetchSnapshot } from '../execution/recording/savedWork.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { provenanceOf, type TurnSnapshot } from '../workspace/saved/provenance.ts'
import { workspaceOf, type UndoPreviewDeps } from './undoPreview.ts'

export async function lineOrigins(
  deps: UndoPreviewDeps,
  { taskId, path }: Asked<'origins'>,
): Promise<Answered<'origins'> | undefined> {
  const { state } = await deps.commands.load(decider, taskStream(taskId))
  const workspace = state.kind === 'task' ? await workspaceOf(deps, taskId) : undefined
  if (state.kind !== 'task' || !workspace) return undefined
  const turns = await turnsOf(deps, state, workspace)
  const { git } = deps
  const { privateGitDir, startCommit } = workspace
  const ranges = await provenanceOf({ git, privateGitDir, startCommit, turns }, path)
  if (ranges === null) return { ranges: null }
  return { ranges: ranges.map(({ from, to, turn }) => ({ from, to, executionId: turn })) }
}

/** The snapshots that count, oldest first, that of the turn before the task among them. Those whose files are gone are left out. */
async function turnsOf(
  deps: UndoPreviewDeps,
  { restorePoints: { points, at }, origin }: LiveTask,
  workspace: Workspace,
): Promise<readonly TurnSnapshot[]> {
  const counting = countingAt(points, at).toReversed()
  const all = [
    ...(origin ? [{ executionId: origin.executionId, snapshot: origin.snapshot }] : []),
    ...counting,
  ]
  const turns: TurnSnapshot[] = []
  for (const { executionId, snapshot } of all)
    if (snapshot && (await fetchSnapshot(deps, snapshot, workspace)) === null)
      turns.push({ turn: executionId, work: snapshot.work })
  return turns
}
