/** Forks: a new task starts with the files and the conversation from the end of a turn of another task. */
import type { Decision } from '../kernel/decider.ts'
import { refuse, type Refusal } from '../kernel/errors.ts'
import type { CommandOf } from './commands.ts'
import type { TaskEvent } from './events.ts'
import { pointOf, type Snapshot } from './restorePoints.ts'
import { TaskCreatedFromTurn, TaskForked } from './snapshotEvents.ts'
import type { LiveTask } from './state.ts'

/** The snapshot from the end of a turn, or a refusal when there is no snapshot. */
export function snapshotOfTurn(state: LiveTask, executionId: string): Snapshot | Refusal {
  const point = pointOf(state.restorePoints.points, executionId)
  if (!point || point.kind === 'undo') return refuse('not_found', 'There is no such turn in this task.')
  if ('execution' in state.phase && state.phase.execution.executionId === executionId)
    return refuse('no_snapshot', 'This turn is still running. Its files are saved when it ends.')
  return point.snapshot ?? refuse('no_snapshot', 'The files at the end of this turn were not saved.')
}

/** Records that another task was created from a turn of this task. Repeating this changes nothing. */
export function recordFork(state: LiveTask, command: CommandOf<'RecordFork'>): Decision<TaskEvent> {
  const { taskId, executionId, title } = command
  if (state.forks.includes(taskId)) return []
  const found = snapshotOfTurn(state, executionId)
  return 'refused' in found ? found : [TaskForked.of({ taskId, executionId }, { title })]
}

/** The event that says from which turn a new task was created. */
export function origin({ from }: CommandOf<'CreateTask'>): readonly TaskEvent[] {
  if (!from) return []
  const { taskId, executionId, title, transcript, snapshot } = from
  const { bundle, work, session } = snapshot
  const resumed =
    session?.sessionId == null
      ? null
      : { agent: session.agent, sessionId: session.sessionId, blob: session.blob }
  return [
    TaskCreatedFromTurn.of({ taskId, executionId, bundle, session: resumed }, { title, work, transcript }),
  ]
}
