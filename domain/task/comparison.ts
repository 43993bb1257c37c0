/**
 * Comparisons: the same task runs several times from the same commit, with different agents, models or messages. The first task is the original. All
 * other tasks are its alternatives, even if a person requested them on the page of an alternative.
 */
import { mostCompared } from '../api/comparison.ts'
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { CommandOf } from './commands.ts'
import { AlternativeAdded, AlternativeRemoved, TaskCreatedToCompare, type TaskEvent } from './events.ts'
import type { LiveTask } from './state.ts'

/** Reserves a place in the comparison for an alternative that will be created. Repeating this changes nothing. */
export function addAlternative(
  state: LiveTask,
  { taskId, title, deleted }: CommandOf<'AddAlternative'>,
): Decision<TaskEvent> {
  if (state.alternatives.includes(taskId)) return []
  const places = 1 + state.alternatives.filter((id) => !deleted.includes(id)).length
  return places < mostCompared ? [AlternativeAdded.of({ taskId }, { title })] : refuse('comparison_full')
}

/** Records an alternative that exists, even if it has no reserved place. Repeating this changes nothing. */
export function recordAlternative(
  state: LiveTask,
  { taskId, title }: CommandOf<'RecordAlternative'>,
): Decision<TaskEvent> {
  return state.alternatives.includes(taskId) ? [] : [AlternativeAdded.of({ taskId }, { title })]
}

/** Frees the place of an alternative whose creation failed. */
export function removeAlternative(
  state: LiveTask,
  { taskId }: CommandOf<'RemoveAlternative'>,
): Decision<TaskEvent> {
  return state.alternatives.includes(taskId) ? [AlternativeRemoved.of({ taskId })] : []
}

/** The event that says to which task a new task is an alternative. */
export function comparedWith({ comparedTo }: CommandOf<'CreateTask'>): readonly TaskEvent[] {
  if (!comparedTo) return []
  const { taskId, title, baseCommit } = comparedTo
  return [TaskCreatedToCompare.of({ taskId }, { title, baseCommit })]
}
