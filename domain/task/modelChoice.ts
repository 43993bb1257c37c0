/** The model of a task's agent, and how hard it thinks. */
import type { RecordedOf } from '../kernel/event.ts'
import type { CommandOf } from './commands.ts'
import { ModelChosen, type TaskEvent } from './events.ts'
import type { LiveTask, ModelChoice } from './liveTask.ts'

/** The model stands in the creation itself; the effort follows it. */
export function effortOfNew({
  agent,
  codexModel,
  effort = null,
}: CommandOf<'CreateTask'>): readonly TaskEvent[] {
  return effort === null ? [] : [ModelChosen.of({ agent, effort }, { model: codexModel })]
}

export function chooseModel(
  task: Pick<LiveTask, 'agent' | 'model'>,
  change: CommandOf<'UpdateTask'>['model'],
): readonly TaskEvent[] {
  if (change === undefined) return []
  const agent = change.agent ?? task.agent
  // What was chosen for another agent means nothing to this one.
  const before = task.model.agent === agent ? task.model : { agent: null, name: null, effort: null }
  const { name = before.name, effort = before.effort } = change
  if (before.agent === agent && before.name === name && before.effort === effort) return []
  return [ModelChosen.of({ agent, ...(effort !== null && { effort }) }, { model: name })]
}

export function modelChosen({
  data,
  content,
}: Extract<RecordedOf<TaskEvent>, { type: 'ModelChosen' }>): ModelChoice {
  return { agent: data.agent, name: content?.model ?? null, effort: data.effort ?? null }
}
