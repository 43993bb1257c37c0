/** An agent's questions during a turn: records them, and passes the answers of people from the log to the agent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { taskStream } from '#domain/kernel/streams.ts'
import { questionsPage } from '#domain/api/questions.ts'
import { MessagePosted } from '#domain/task/events.ts'
import {
  AnswerDelivered,
  permissionOptions,
  QuestionAsked,
  QuestionWithdrawn,
  type Answer,
} from '#domain/task/questionEvents.ts'
import { undelivered } from '#domain/task/questionState.ts'
import { answerInWords } from '#domain/task/questions.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { questionDocumentId, questionsView } from '#domain/views/questions.ts'
import { newest } from '#platform/reads/documentPages.ts'
import type { AgentEvent, AgentQuestion, AskedQuestion } from '../../agents/port.ts'
import type { AgentDeps, RecordingDeps } from '../../deps.ts'
import type { Redaction } from '../../redaction/redaction.ts'
import type { Run } from '../runTypes.ts'
import type { AgentProcess } from './agentProcess.ts'

/**
 * The most questions that may wait at once, and the most in one turn, as many as lists of them show. Further requests are declined, which the person is
 * told once.
 */
const maxOpen = 100
const maxQuestions = questionsPage

const retryPauseMs = 1_000

type Deps = Pick<RecordingDeps, 'documents' | 'logger'> & Pick<AgentDeps, 'ids'>

interface AskingTurn {
  readonly run: Pick<Run, 'fence' | 'reporter' | 'answers'>
  readonly taskId: string
  readonly process: Pick<AgentProcess, 'answer'>
  readonly redaction: Redaction
  /** Called when the agent starts or stops waiting for a person. */
  readonly onWaiting: (isWaiting: boolean) => void
}

type Withdrawal = Extract<AgentEvent, { type: 'question_withdrawn' }>

export interface AgentQuestions {
  hear(event: AgentQuestion | Withdrawal): Promise<void>
  /** Called when the model has continued: from then on, the answers that the agent got before count as delivered. */
  seen(): Promise<void>
  stop(): void
}

/** One request of the agent, which may ask several questions, with the answers so far. */
interface Waiting {
  readonly questionIds: readonly string[]
  readonly answers: Map<string, Answer>
}

/**
 * Follows the questions of one turn. The agent gets each answer once. If the model has not seen an answer when the turn ends, the next turn begins
 * with this answer. A question without an answer stays in the task: see domain/task/questions.ts.
 */
export function agentQuestions(deps: Deps, turn: AskingTurn): AgentQuestions {
  const { process, taskId, onWaiting } = turn
  const { reporter, fence, answers } = turn.run
  const { executionId } = fence
  const waiting = new Map<string, Waiting>()
  const limit = questionLimit(deps, turn)
  let isStopped = false
  /** The ids of questions whose answers the agent got but the model has not seen. */
  let given: readonly string[] = []

  function settle(requestId: string): void {
    waiting.delete(requestId)
    if (waiting.size === 0 && !isStopped) onWaiting(false)
  }
  async function take(questionId: string): Promise<void> {
    const [requestId, request] =
      [...waiting].find(([, { questionIds }]) => questionIds.includes(questionId)) ?? []
    if (requestId === undefined || request === undefined) return
    const id = questionDocumentId(taskId, questionId)
    const question = await deps.documents.now(questionsView, taskStream(taskId), id)
    if (!question?.answer) return
    request.answers.set(questionId, question.answer)
    const { questionIds } = request
    const inOrder = questionIds.flatMap((one) => request.answers.get(one) ?? [])
    if (inOrder.length < questionIds.length) return
    if (process.answer(requestId, inOrder)) given = [...given, ...questionIds]
    settle(requestId)
  }
  const stopListening = answers.listen(async (questionId) => {
    // Each answer is announced only once. So if passing it on fails, this is repeated until it succeeds or the turn ends.
    for (;;) {
      try {
        return await take(questionId)
      } catch (err) {
        deps.logger.warn({ err, questionId }, 'failed to give the agent an answer')
        if (isStopped) return
        await sleep(retryPauseMs)
      }
    }
  })

  async function ask({ requestId, asked }: AgentQuestion): Promise<void> {
    const open = [...waiting.values()].reduce((sum, { questionIds }) => sum + questionIds.length, 0)
    if (!limit.takes(asked.length, open)) return limit.decline(requestId)
    const questions = await Promise.all(
      asked.map(async (question) => ({
        questionId: deps.ids.uuid(),
        question: await redacted(question, turn.redaction),
      })),
    )
    const questionIds = questions.map(({ questionId }) => questionId)
    waiting.set(requestId, { questionIds, answers: new Map() })
    onWaiting(true)
    await reporter.report(
      ...questions.map(({ questionId, question: { kind, allowsText, multiple, ...content } }) =>
        QuestionAsked.of({ executionId, questionId, kind, allowsText, multiple }, content),
      ),
    )
  }
  async function withdraw(requestId: string): Promise<void> {
    const { questionIds = [], answers: taken } = waiting.get(requestId) ?? {}
    settle(requestId)
    const open = questionIds.filter((questionId) => taken?.has(questionId) !== true)
    if (open.length > 0)
      await reporter.report(...open.map((questionId) => QuestionWithdrawn.of({ executionId, questionId })))
  }
  return {
    hear: (event) => (event.type === 'question' ? ask(event) : withdraw(event.requestId)),
    async seen() {
      const delivered = given.map((questionId) => AnswerDelivered.of({ executionId, questionId }))
      given = []
      if (delivered.length > 0) await reporter.report(...delivered)
    },
    stop() {
      isStopped = true
      stopListening()
    },
  }
}

/** Counts the questions of a turn, and declines those beyond a limit. */
function questionLimit({ ids }: Pick<Deps, 'ids'>, { run: { reporter, fence }, process }: AskingTurn) {
  let count = 0
  let isTold = false
  return {
    /** Counts new questions, unless they must be declined; `open` is the number of questions that wait. */
    takes(asked: number, open: number): boolean {
      if (open + asked > maxOpen || count + asked > maxQuestions) return false
      count += asked
      return true
    },
    async decline(requestId: string): Promise<void> {
      process.answer(requestId, [])
      if (isTold) return
      isTold = true
      const message = `The agent asks too much: what it asks beyond ${maxOpen} questions at once or ${maxQuestions} in a turn is declined.`
      const { executionId } = fence
      const about = { messageId: ids.uuid(), messageType: 'system', agent: null, executionId } as const
      await reporter.report(MessagePosted.of(about, { message }))
    },
  }
}

async function redacted(question: AskedQuestion, redaction: Redaction): Promise<AskedQuestion> {
  const clean = (text: string) => redaction.text(text)
  const all = (texts: readonly string[]) => Promise.all(texts.map(clean))
  const options = question.options.map(async ({ value, label, description, preview }) => ({
    value: await clean(value),
    label: await clean(label),
    description: await clean(description),
    preview: preview && (await clean(preview)),
  }))
  const fields = question.fields.map(async (field) => ({
    ...field,
    name: await clean(field.name),
    label: await clean(field.label),
    description: await clean(field.description),
    choices: await all(field.choices),
  }))
  return {
    ...question,
    title: await clean(question.title),
    body: await clean(question.body),
    options: await Promise.all(options),
    fields: await Promise.all(fields),
    rules: await all(question.rules),
  }
}

/** Answers that were not delivered in the run that asked for them. */
export interface LateAnswers {
  readonly questionIds: readonly string[]
  /** The answers in words, for the beginning of the next message; empty when there are none. */
  readonly words: string
}

export async function lateAnswers(
  { documents }: Pick<RecordingDeps, 'documents'>,
  { taskId, questions }: LiveTask,
): Promise<LateAnswers> {
  const questionIds = undelivered(questions)
  const found = await Promise.all(
    questionIds.map((id) => documents.now(questionsView, taskStream(taskId), questionDocumentId(taskId, id))),
  )
  const words = found.flatMap((one) => (one?.answer ? [answerInWords(one, one.answer)] : []))
  return { questionIds, words: words.join('\n\n') }
}

/** The rules that a person has allowed 'always in this task', in the agent's notation; empty unless the task's mode is `ask`. */
export async function allowedRules(
  { documents }: Pick<RecordingDeps, 'documents'>,
  { taskId, questions }: LiveTask,
): Promise<readonly string[]> {
  if (questions.mode !== 'ask' || questions.settled.size === 0) return []
  const answered = await newest(documents, questionsView, { task: taskId, status: 'answered' }, questionsPage)
  const allowing = answered.filter(({ answer }) => answer?.choices.includes(permissionOptions.allowInTask))
  return [...new Set(allowing.flatMap(({ rules }) => rules))]
}
