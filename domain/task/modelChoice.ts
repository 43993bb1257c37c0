/** The model and the effort of a task's agent. */
import type { RecordedOf } from '../kernel/event.ts'
import type { CommandOf } from './commands.ts'
import { ModelChosen, type TaskEvent } from './events.ts'
import type { LiveTask, ModelChoice } from './state.ts'

/** The event with the chosen effort of a new task; none when no effort was chosen. `TaskCreated` already contains the model. */
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
  // An earlier choice for another agent says nothing about this agent.
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
