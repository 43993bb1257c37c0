/**
 * Decides about an agent's questions, of which each is answered at most once. While the run continues, the waiting agent gets the answer. If the run
 * has failed, the answer to the last open question starts the next turn. A question is withdrawn by its agent, when its turn succeeds or is
 * cancelled, when another turn starts, and at an undo.
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

/** The event with the agent's new mode, if the answer approves a plan. */
function modeAfter(
  mode: AgentMode,
  kind: QuestionKind | undefined,
  { choices }: Answer,
): readonly TaskEvent[] {
  if (kind !== 'plan') return []
  const { approve, approveAndAsk } = planOptions
  // An agent may propose a plan unasked, and the mere approval of that plan changes no mode.
  if (mode === 'plan' && choices.includes(approve)) return [AgentModeChosen.of({ mode: 'free' })]
  return mode !== 'ask' && choices.includes(approveAndAsk) ? [AgentModeChosen.of({ mode: 'ask' })] : []
}

export function chooseMode({ questions }: LiveTask, mode: AgentMode | undefined): readonly TaskEvent[] {
  return mode === undefined || mode === questions.mode ? [] : [AgentModeChosen.of({ mode })]
}

/** Withdraws all open questions: when a turn succeeds or is cancelled, when another turn starts, and at an undo. */
export function withdrawQuestions({ questions }: LiveTask): readonly TaskEvent[] {
  return [...questions.pending].flatMap(([questionId, { executionId, status }]) =>
    status === 'open' ? [QuestionWithdrawn.of({ executionId, questionId })] : [],
  )
}

/**
 * Whether an agent withdraws a question that is no longer open, for example because a person has just answered it. The person's answer then counts.
 */
export function isLateWithdrawal({ questions }: LiveTask, { type, data }: TaskEvent): boolean {
  return type === 'QuestionWithdrawn' && questions.pending.get(data.questionId)?.status !== 'open'
}

/** The answer as the text of a message, for an agent that no longer waits for the answer. */
export function answerInWords(
  { kind, title }: { readonly kind: QuestionKind; readonly title: string | null },
  { choices, text, values }: Answer,
): string {
  const said = text.trim()
  const lines = (head: string) => (said === '' ? head : `${head}\n\n${said}`)
  const about = title ?? ''
  // A title may begin with a slash, which would look like a command to the agent.
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
