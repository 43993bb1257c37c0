/**
 * Questions of an agent. Each is answered at most once. While its run goes on, the answer is for the agent that waits; once the run has failed, the
 * last answer starts the next turn. A question is withdrawn when its turn ends otherwise, or when another turn starts.
 */
import { refuse } from '../kernel/errors.ts'
import type { Decision } from '../kernel/decider.ts'
import type { CommandOf } from './commands.ts'
import type { TaskEvent } from './events.ts'
import {
  AgentModeChosen,
  formOptions,
  permissionOptions,
  planOptions,
  QuestionAnswered,
  QuestionWithdrawn,
  type AgentMode,
  type Answer,
  type QuestionKind,
} from './questionEvents.ts'
import { isLastOpen } from './questionState.ts'
import type { LiveTask } from './state.ts'

export function answerQuestion(
  { questions, phase }: LiveTask,
  { questionId, answer, answeredBy }: CommandOf<'AnswerQuestion'>,
  startTurn: () => Decision<TaskEvent>,
): Decision<TaskEvent> {
  const question = questions.pending.get(questionId)
  const status = question?.status ?? questions.settled.get(questionId)
  if (status === undefined) return refuse('not_found', 'There is no such question in this task.')
  if (status === 'withdrawn') return refuse('question_withdrawn')
  if (status === 'answered') return refuse('already_answered')
  const isWaiting = 'execution' in phase && phase.execution.executionId === question?.executionId
  const answered = QuestionAnswered.of(
    { questionId, answeredBy, delivery: isWaiting ? 'agent' : 'next_turn' },
    answer,
  )
  const events = [answered, ...modeAfter(questions.mode, question?.kind, answer)]
  if (isWaiting || !isLastOpen(questions, questionId)) return events
  const turn = startTurn()
  return 'refused' in turn ? turn : [...events, ...turn]
}

/** A plan that is approved ends the planning. */
function modeAfter(
  mode: AgentMode,
  kind: QuestionKind | undefined,
  { choices }: Answer,
): readonly TaskEvent[] {
  if (mode !== 'plan' || kind !== 'plan') return []
  if (choices.includes(planOptions.approve)) return [AgentModeChosen.of({ mode: 'free' })]
  return choices.includes(planOptions.approveAndAsk) ? [AgentModeChosen.of({ mode: 'ask' })] : []
}

export function chooseMode({ questions }: LiveTask, mode: AgentMode | undefined): readonly TaskEvent[] {
  return mode === undefined || mode === questions.mode ? [] : [AgentModeChosen.of({ mode })]
}

/** Withdraws what nobody waits for any more: all that is open when a turn ends by itself or is cancelled, or when another one starts. */
export function withdrawQuestions({ questions }: LiveTask): readonly TaskEvent[] {
  return [...questions.pending].flatMap(([questionId, { executionId, status }]) =>
    status === 'open' ? [QuestionWithdrawn.of({ executionId, questionId })] : [],
  )
}

/** Whether an agent takes back what a person has just answered: that answer counts. */
export function isLateWithdrawal({ questions }: LiveTask, { type, data }: TaskEvent): boolean {
  return type === 'QuestionWithdrawn' && questions.pending.get(data.questionId)?.status !== 'open'
}

/** The words in which an agent that no longer waits is told an answer. */
export function answerInWords(
  { kind, title }: { readonly kind: QuestionKind; readonly title: string | null },
  { choices, text, values }: Answer,
): string {
  const said = text.trim()
  const lines = (head: string) => (said === '' ? head : `${head}\n\n${said}`)
  const about = title ?? ''
  // A title may begin with a slash, as a command to the agent does.
  const answerTo = `The answer to: ${about}`
  switch (kind) {
    case 'plan':
      return choices.includes(planOptions.sendBack)
        ? lines('Change your plan before you carry it out.')
        : lines('Your plan is approved. Carry it out.')
    case 'permission':
      return choices.includes(permissionOptions.deny)
        ? lines(`You may not do this: ${about}`)
        : lines(`You may do this: ${about}`)
    case 'form':
      if (choices.includes(formOptions.decline)) return `${answerTo}\n\nThe person declines.`
      return `${answerTo}\n\n${values.map(({ name, value }) => `- ${name}: ${value}`).join('\n')}`
    case 'question':
      return `${answerTo}\n\n${[...choices, ...(said === '' ? [] : [said])].join(', ')}`
  }
}
