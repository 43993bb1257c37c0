/** Undoing a turn: the task goes back to an earlier state. Its history stays complete. */
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { CommandOf } from './commands.ts'
import type { TaskEvent } from './events.ts'
import { withdrawQuestions } from './questions.ts'
import { countingAt, pointOf } from './restorePoints.ts'
import { TurnsUndone, WorkspaceRestored } from './snapshotEvents.ts'
import type { LiveTask } from './state.ts'

/** Undoes an earlier undo, or a turn or command with everything after it. */
export function undoTurn(state: LiveTask, command: CommandOf<'UndoTurn'>): Decision<TaskEvent> {
  const { undoId, executionId } = command
  const { points, at } = state.restorePoints
  if ('execution' in state.phase) return refuse('task_running')
  if (state.pullRequestRequest !== null)
    return refuse('task_running', 'A pull request is being made. Try again when it is done.')
  const point = pointOf(points, executionId)
  if (!point) return refuse('not_found', 'There is no such turn in this task.')
  const { before } = point
  const target = before === null ? undefined : points[before]
  if (target && target.snapshot === null)
    return refuse('no_snapshot', 'The files from before this turn were not saved, so it cannot be undone.')
  const now = countingAt(points, at).map((one) => one.executionId)
  const then = countingAt(points, before).map((one) => one.executionId)
  const undone = now.filter((id) => !then.includes(id)).reverse()
  const redone = then.filter((id) => !now.includes(id)).reverse()
  if (undone.length === 0 && redone.length === 0) return refuse('already_undone')
  return [TurnsUndone.of({ undoId, executionId, undone, redone }), ...withdrawQuestions(state)]
}

/** Records a snapshot for a turn that ended without a snapshot, before an undo replaces the files. */
export function recordSnapshot(state: LiveTask, command: CommandOf<'RecordSnapshot'>): Decision<TaskEvent> {
  return state.pendingRestore?.executionId === command.undoId ? [command.snapshot] : []
}

/** Records that the files were restored. Ignored when another undo was requested in the meantime. */
export function recordRestore(state: LiveTask, command: CommandOf<'RecordRestore'>): Decision<TaskEvent> {
  const { executionId, keptPaths, changes } = command
  if (state.pendingRestore?.executionId !== executionId) return []
  const kept = keptPaths.length
  const restored = WorkspaceRestored.of(
    { executionId, kept },
    { keptPaths: keptPaths.slice(0, mostListedPaths) },
  )
  return [restored, ...(changes ? [changes] : [])]
}

/** The maximum number of paths that an event lists. */
export const mostListedPaths = 100
