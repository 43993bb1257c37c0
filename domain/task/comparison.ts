/**
 * A comparison: the same task is run again from the same commit with another agent, model or message. The first task is the original; all others are
 * its alternatives, even if they were requested on an alternative.
 */
import { mostCompared } from '../api/comparison.ts'
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { CommandOf } from './commands.ts'
import { AlternativeAdded, AlternativeRemoved, TaskCreatedToCompare, type TaskEvent } from './events.ts'
import type { LiveTask } from './state.ts'

/** Reserves a place in the comparison for an alternative that is about to be created. Can be repeated. */
export function addAlternative(
  state: LiveTask,
  { taskId, title, deleted }: CommandOf<'AddAlternative'>,
): Decision<TaskEvent> {
  if (state.alternatives.includes(taskId)) return []
  const places = 1 + state.alternatives.filter((id) => !deleted.includes(id)).length
  return places < mostCompared ? [AlternativeAdded.of({ taskId }, { title })] : refuse('comparison_full')
}

/** Records an alternative that exists but has no place yet. Can be repeated. */
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
