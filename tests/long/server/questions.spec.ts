/**
 * A thousand questions, while the server is killed at times, two people answer at once, and sockets are lost: each question is answered once, and
 * none is lost.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listQuestions, type ShownQuestion } from '#domain/api/questions.schema.ts'
import { retryTask } from '#domain/api/tasks.schema.ts'
import { randomRuns } from '../../longRun.ts'
import { note } from '../../report/notes.ts'
import type { Script } from '../../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from '../../server/scene.ts'

/** How many questions one request of `claude` may contain, and how many requests there are in a turn. */
const asksAtOnce = 4
const requestsInTurn = 5
const questionsInTurn = asksAtOnce * requestsInTurn
const turns = Math.max(1, Math.ceil(randomRuns(1_000) / questionsInTurn))
/** Every so many turns, the server is killed while an answer is on its way. */
const turnsBetweenKills = 4

const labels = ['Red', 'Blue']
const script: Script = {
  turns: [
    ...Array.from({ length: requestsInTurn }, (_, request) => ({
      tools: [
        {
          name: 'AskUserQuestion',
          input: {
            questions: Array.from({ length: asksAtOnce }, (__, n) => ({
              question: `Question ${request}.${n}?`,
              header: 'Choice',
              multiSelect: false,
              options: labels.map((label) => ({ label, description: label })),
            })),
          },
        },
      ],
    })),
    { text: 'All answered.' },
  ],
}

let scene: Scene
beforeAll(async () => {
  scene = await openScene([script], { env: { REQUESTS_PER_MINUTE: '0' } })
})
afterAll(() => scene?.close())

const questionsOf = async (taskId: string): Promise<readonly ShownQuestion[]> =>
  (await scene.ada.ask(listQuestions, { params: { taskId } })).questions

interface Accepted {
  readonly questionId: string
  readonly words: string
}

/** Two answer a question at once. Whoever hears nothing asks again with the same key, as a browser does. */
async function answeredTwice(
  taskId: string,
  questionId: string,
  count: number,
): Promise<readonly Accepted[]> {
  const answers = await Promise.all(
    ['ada', 'also ada'].map(async (who) => {
      const words = `Answer ${count} of ${who}.`
      const key = { 'idempotency-key': randomUUID() }
      const path = `/tasks/${taskId}/questions/${questionId}/answer`
      const once = () => scene.ada.api('POST', path, { answer: words }, key)
      const first = await once()
      const again = await once()
      expect([again.status, first.status]).toEqual([first.status, first.status])
      return { status: first.status, questionId, words }
    }),
  )
  const statuses = answers.map(({ status }) => status).toSorted()
  expect(statuses).toEqual([200, 409])
  return answers.filter(({ status }) => status === 200)
}

/** Everything that any request has told the model. */
const toldTo = () => JSON.stringify(scene.api.requests.map(({ body }) => body))

test('each question is answered once, and each answer is told to the agent', async () => {
  const { ada, product, projectId } = scene
  const accepted: Accepted[] = []
  let asked = 0
  let kills = 0
  let lostSockets = 0
  for (let turn = 1; turn <= turns; turn += 1) {
    const { id: taskId } = await ada.task(projectId, `Ask in turn ${turn}`)
    let live = await watching(ada, taskId)
    const isKilledAt = turn % turnsBetweenKills === 1 ? turn % requestsInTurn : -1
    const seen = new Set<string>()
    for (let request = 0; ; request += 1) {
      let open: readonly ShownQuestion[] = []
      let isOver = false
      await expect
        .poll(
          async () => {
            const status = (await ada.taskOnce(taskId, () => true)).status
            open = (await questionsOf(taskId)).filter((one) => one.status === 'open')
            isOver = ['completed', 'failed', 'cancelled'].includes(status)
            return open.length === asksAtOnce || isOver
          },
          { interval: 20 },
        )
        .toBe(true)
      if (isOver && open.length === 0) {
        const { status } = await ada.taskOnce(taskId, hasEnded)
        if (status === 'completed') break
        // The server was killed after the answers: the turn is tried again, and is told them first.
        await ada.ask(retryTask, { params: { taskId } })
        await ada.taskOnce(
          taskId,
          (now) => !hasEnded(now) || now.waitingFor !== null || now.status === 'completed',
        )
        continue
      }
      for (const { id } of open) seen.add(id)
      live.break()
      lostSockets += 1
      for (const { id } of open) accepted.push(...(await answeredTwice(taskId, id, accepted.length)))
      if (request === isKilledAt) {
        kills += 1
        await product.kill9()
        await product.restart()
      }
      live.close()
      live = await watching(ada, taskId)
    }
    live.close()
    const questions = await questionsOf(taskId)
    asked += questions.length
    expect(questions.map(({ status }) => status)).toEqual(questions.map(() => 'answered'))
    expect(questions.map(({ id }) => id).toSorted()).toEqual([...seen].toSorted())
    for (const { id, answer } of questions)
      expect(accepted.filter(({ questionId }) => questionId === id)).toEqual([
        { status: 200, questionId: id, words: answer?.text },
      ])
  }
  const told = toldTo()
  expect(accepted.filter(({ words }) => !told.includes(words))).toEqual([])
  expect(accepted.length).toBe(asked)
  note(
    'questions of agents, each answered by two at once',
    `${asked}, ${kills} kill -9 of the server among them and ${lostSockets} lost sockets: each answered once, all told to the agent`,
  )
})
