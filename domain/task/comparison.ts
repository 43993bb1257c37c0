/**
 * The same task run another time, with another agent, model or message, from the same commit. The first of them is the original; all others are
 * its alternatives, also those that were asked for on an alternative.
 */
import { mostCompared } from '../api/comparison.ts'
import type { Decision } from '../kernel/decider.ts'
import { refuse } from '../kernel/errors.ts'
import type { CommandOf } from './commands.ts'
import { AlternativeAdded, AlternativeRemoved, TaskCreatedToCompare, type TaskEvent } from './events.ts'
import type { LiveTask } from './state.ts'

/** Gives an alternative that is about to be created a place in the comparison; once, however often it is asked for. */
export function addAlternative(
  state: LiveTask,
  { taskId, title, deleted }: CommandOf<'AddAlternative'>,
): Decision<TaskEvent> {
  if (state.alternatives.includes(taskId)) return []
  const places = 1 + state.alternatives.filter((id) => !deleted.includes(id)).length
  return places < mostCompared ? [AlternativeAdded.of({ taskId }, { title })] : refuse('comparison_full')
}

/** Notes an alternative that exists but was never noted; once, however often it is told. */
export function recordAlternative(
  state: LiveTask,
  { taskId, title }: CommandOf<'RecordAlternative'>,
): Decision<TaskEvent> {
  return state.alternatives.includes(taskId) ? [] : [AlternativeAdded.of({ taskId }, { title })]
}

/** Frees the place of an alternative that was not created after all. */
export function removeAlternative(
  state: LiveTask,
  { taskId }: CommandOf<'RemoveAlternative'>,
): Decision<TaskEvent> {
  return state.alternatives.includes(taskId) ? [AlternativeRemoved.of({ taskId })] : []
}

/** The event that says what a new task is an alternative to. */
export function comparedWith({ comparedTo }: CommandOf<'CreateTask'>): readonly TaskEvent[] {
  if (!comparedTo) return []
  const { taskId, title, baseCommit } = comparedTo
  return [TaskCreatedToCompare.of({ taskId }, { title, baseCommit })]
}
