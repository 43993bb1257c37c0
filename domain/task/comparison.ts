/**
 * The same task run another time, with another agent, model or message, from the same commit. The first of them is the original; all others are
 * its alternatives, also those that were asked for on an alternative.
 */
import type { Decision } from '../kernel/decider.ts'
import type { CommandOf } from './commands.ts'
import { AlternativeAdded, TaskCreatedToCompare, type TaskEvent } from './events.ts'
import type { LiveTask } from './state.ts'

/** Notes in the original that an alternative was created; once, however often it is told. */
export function addAlternative(
  state: LiveTask,
  { taskId, title }: CommandOf<'AddAlternative'>,
): Decision<TaskEvent> {
  return state.alternatives.includes(taskId) ? [] : [AlternativeAdded.of({ taskId }, { title })]
}

/** The event that says what a new task is an alternative to. */
export function comparedWith({ comparedTo }: CommandOf<'CreateTask'>): readonly TaskEvent[] {
  if (!comparedTo) return []
  const { taskId, title, baseCommit } = comparedTo
  return [TaskCreatedToCompare.of({ taskId }, { title, baseCommit })]
}
