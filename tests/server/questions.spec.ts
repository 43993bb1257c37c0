/** The agent's questions reach the person, and each is answered once: the real claude with a scripted Messages API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { forkTask } from '#domain/api/fork.schema.ts'
import { answerQuestion, listQuestions, type ShownQuestion } from '#domain/api/questions.schema.ts'
import { cancelTask, createTask, getTask, getTaskDiff, updateTask } from '#domain/api/tasks.schema.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const ask = (
  ...questions: readonly { question: string; multiSelect?: boolean; labels: readonly string[] }[]
) => ({
  name: 'AskUserQuestion',
  input: {
    questions: questions.map(({ question, multiSelect = false, labels }) => ({
      question,
      header: 'Choice',
      multiSelect,
      options: labels.map((label) => ({ label, description: `It is ${label}.` })),
    })),
  },
})
const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })

const colour = ask({ question: 'Which colour?', labels: ['Red', 'Blue'] })
const late = createGate()
const cut = createGate()
const scripts: readonly Script[] = [
  {
    when: /^Paint it/,
    turns: [
      {
        tools: [
          ask(
            { question: 'Which colour?', labels: ['Red', 'Blue'] },
            { question: 'Which sides?', multiSelect: true, labels: ['Left', 'Right'] },
          ),
        ],
      },
      { text: 'Painted.' },
    ],
  },
  { when: /^Ask and be stopped/, turns: [{ tools: [colour] }, { text: 'Never said.' }] },
  { when: /^Ask and be killed/, turns: [{ tools: [colour] }, { text: 'Never said.' }] },
  {
    when: /^Ask and be cut/,
    turns: [{ tools: [colour] }, { text: 'Never said.', hold: { afterWords: 0, gate: cut } }],
  },
  { when: /Which colour\?\s+Blue/, turns: [{ text: 'Blue it is.' }] },
  {
    when: /^Plan the change/,
    turns: [
      { text: 'I plan.', tools: [{ name: 'ExitPlanMode', input: {} }] },
      { text: 'I plan anew.', tools: [{ name: 'ExitPlanMode', input: {} }] },
      { tools: [bash('echo planned > planned.txt')] },
      { text: 'Carried out.' },
    ],
  },
  {
    when: /^Change it step by step/,
    turns: [
      { tools: [bash('touch one.txt')] },
      { tools: [{ name: 'Write', input: { file_path: 'two.txt', content: 'two\n' } }] },
      { tools: [bash('touch one.txt')] },
      { text: 'Done step by step.', hold: { afterWords: 1, gate: late } },
    ],
  },
]

let scene: Scene
beforeAll(async () => {
  scene = await openScene(scripts, { env: { RUNS_AT_ONCE: '2' } })
})
afterAll(async () => {
  late.release()
  cut.release()
  await scene?.close()
})

const questionsOf = async (taskId: string): Promise<readonly ShownQuestion[]> =>
  (await scene.ada.ask(listQuestions, { params: { taskId } })).questions
/** The questions that are open, once there are so many. */
async function open(taskId: string, count: number): Promise<readonly ShownQuestion[]> {
  const isOpen = ({ status }: ShownQuestion) => status === 'open'
  await expect.poll(async () => (await questionsOf(taskId)).filter(isOpen).length).toBe(count)
  return (await questionsOf(taskId)).filter(isOpen)
}
const answer = (taskId: string, questionId: string, said: Parameters<typeof body>[0]) =>
  scene.ada.ask(answerQuestion, { params: { taskId, questionId }, body: body(said) })
const body = (said: string | { choices?: string[]; text?: string }) => ({ answer: said })
const chatOf = async (taskId: string) =>
  (await scene.ada.ask(getChat, { params: { taskId } })).messages.map(({ message }) => message)

describe('a question', () => {
  // Shows claude: questions.
  test('waits in sight, and the answers reach the agent', async () => {
    const { ada, projectId, api } = scene
    const { id: taskId } = await ada.task(projectId, 'Paint it')
    const live = await watching(ada, taskId)
    const [first, second] = await open(taskId, 2)
    expect(first).toMatchObject({
      kind: 'question',
      title: 'Which colour?',
      options: [{ value: 'Red', description: 'It is Red.' }, { value: 'Blue' }],
      multiple: false,
      answer: null,
    })
    expect((await ada.ask(getTask, { params: { taskId } })).task).toMatchObject({
      status: 'running',
      waitingFor: 'question',
    })
    const refused = await ada.refused(answerQuestion, {
      params: { taskId, questionId: first?.id ?? '' },
      body: { answer: { choices: ['Green'] } },
    })
    expect(refused).toMatchObject({ status: 400, field: 'answer' })
    await answer(taskId, first?.id ?? '', 'Blue')
    const { question } = await answer(taskId, second?.id ?? '', {
      choices: ['Left', 'Right'],
      text: 'and top',
    })
    expect(question).toMatchObject({ status: 'answered', delivery: 'agent' })
    const task = await ada.taskOnce(taskId, hasEnded)
    expect(task).toMatchObject({ status: 'completed', waitingFor: null })
    expect(await chatOf(taskId)).toContain('Painted.')
    const told = JSON.stringify(api.requests.map((request) => request.body))
    expect(told.search(/Which colour\?\W+=\W+Blue\W/)).toBeGreaterThan(0)
    expect(told.includes('Left, Right, and top')).toBe(true)
    expect((await questionsOf(taskId)).map(({ isDelivered }) => isDelivered)).toEqual([true, true])
    await live.until('both answers', () => live.of('question_answered').length === 2)
    const asked = live.of('question_asked').map(({ question: { title } }) => title)
    expect(asked).toEqual(['Which colour?', 'Which sides?'])
    live.close()
  })

  test('is answered once: whoever comes later is told what counts', async () => {
    const { ada, projectId } = scene
    const { id: taskId } = await ada.task(projectId, 'Paint it once')
    const [first, second] = await open(taskId, 2)
    const params = { taskId, questionId: first?.id ?? '' }
    const both = await Promise.all(
      ['Red', 'Blue'].map((colourChosen) =>
        ada.api('POST', `/tasks/${taskId}/questions/${params.questionId}/answer`, body(colourChosen)),
      ),
    )
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const counts = (await questionsOf(taskId)).find(({ id }) => id === params.questionId)?.answer
    expect(both.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'already_answered',
      current: { question: { answer: counts } },
    })
    await answer(taskId, second?.id ?? '', 'None')
    await ada.taskOnce(taskId, hasEnded)
  })

  test('is withdrawn when the run is cancelled, and an answer is refused', async () => {
    const { ada, projectId } = scene
    const { id: taskId } = await ada.task(projectId, 'Ask and be stopped')
    const [only] = await open(taskId, 1)
    await ada.ask(cancelTask, { params: { taskId } })
    expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'cancelled', waitingFor: null })
    const refused = await ada.refused(answerQuestion, {
      params: { taskId, questionId: only?.id ?? '' },
      body: { answer: 'Red' },
    })
    expect(refused).toMatchObject({ status: 409, code: 'question_withdrawn' })
  })

  test('of a run that a crash ended is answered with the next turn', async () => {
    const { ada, projectId, product } = scene
    const { id: taskId } = await ada.task(projectId, 'Ask and be killed')
    const [only] = await open(taskId, 1)
    await product.kill9()
    await product.restart()
    const failed = await ada.taskOnce(taskId, hasEnded)
    expect(failed).toMatchObject({ status: 'failed', waitingFor: 'question' })
    const { question } = await answer(taskId, only?.id ?? '', 'Blue')
    expect(question).toMatchObject({ status: 'answered', delivery: 'next_turn' })
    const task = await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
    expect(task).toMatchObject({ status: 'completed', waitingFor: null })
    expect(await chatOf(taskId)).toContain('Blue it is.')
  })
})

test('an answer that the agent was given and its model had not seen is told with the next turn', async () => {
  const { ada, projectId, product } = scene
  const { id: taskId } = await ada.task(projectId, 'Ask and be cut')
  const [only] = await open(taskId, 1)
  await answer(taskId, only?.id ?? '', 'Blue')
  await cut.reached
  await product.kill9()
  await product.restart()
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'failed', waitingFor: null })
  expect((await questionsOf(taskId)).map(({ isDelivered }) => isDelivered)).toEqual([false])
  await ada.api('POST', `/tasks/${taskId}/chat`, { message: 'Go on' })
  await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
  expect(await chatOf(taskId)).toContain('Blue it is.')
  expect((await questionsOf(taskId)).map(({ isDelivered }) => isDelivered)).toEqual([true])
})

test('two who answer the last questions of a failed run at once are both told to the agent', async () => {
  const { ada, projectId, product, api } = scene
  const { id: taskId } = await ada.task(projectId, 'Paint it and be killed')
  const asked = await open(taskId, 2)
  await product.kill9()
  await product.restart()
  await ada.taskOnce(taskId, hasEnded)
  const before = api.requests.length
  await Promise.all(asked.map(({ id }, index) => answer(taskId, id, `Word ${index}.`)))
  await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
  const told = JSON.stringify(api.requests.slice(before).map((request) => request.body))
  expect([told.includes('Word 0.'), told.includes('Word 1.')]).toEqual([true, true])
})

test('a fork works as freely as its task', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Wait for a fork')
  const { execution } = await ada.taskOnce(taskId, hasEnded)
  await ada.ask(updateTask, { params: { taskId }, body: { mode: 'ask' } })
  const forked = await ada.ask(forkTask, { params: { taskId }, body: { executionId: execution?.id ?? '' } })
  expect(forked.task.mode).toBe('ask')
})

// Shows claude: plan.
test('a plan is sent back with a comment, approved, and carried out', async () => {
  const { ada, projectId, api } = scene
  const { task: made } = await ada.ask(createTask, {
    body: { projectId, description: 'Plan the change', branch: 'main', agent: 'claude', mode: 'plan' },
  })
  expect(made.mode).toBe('plan')
  const [first] = await open(made.id, 1)
  expect(first).toMatchObject({ kind: 'plan', options: [{ value: 'approve' }, {}, { value: 'send_back' }] })
  const noWords = { params: { taskId: made.id, questionId: first?.id ?? '' }, body: { answer: 'send_back' } }
  expect(await ada.refused(answerQuestion, noWords)).toMatchObject({ status: 400 })
  await answer(made.id, first?.id ?? '', { choices: ['send_back'], text: 'Begin with the tests.' })
  const [second] = await open(made.id, 1)
  expect((await ada.ask(getTaskDiff, { params: { taskId: made.id } })).data.changedFiles).toEqual([])
  await answer(made.id, second?.id ?? '', 'approve')
  const task = await ada.taskOnce(made.id, hasEnded)
  expect(task).toMatchObject({ status: 'completed', mode: 'free', waitingFor: null })
  expect(JSON.stringify(api.requests.map((request) => request.body)).includes('Begin with the tests.')).toBe(
    true,
  )
  const { data } = await ada.ask(getTaskDiff, { params: { taskId: made.id } })
  expect(data.changedFiles.map(({ fileName }) => fileName)).toEqual(['planned.txt'])
})

// Shows claude: ask.
test('in the mode `ask` each change is shown and allowed, denied, or allowed always', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Wait for the mode')
  await ada.taskOnce(taskId, hasEnded)
  expect((await ada.ask(updateTask, { params: { taskId }, body: { mode: 'ask' } })).task.mode).toBe('ask')
  await ada.api('POST', `/tasks/${taskId}/chat`, { message: 'Change it step by step' })
  const [command] = await open(taskId, 1)
  expect(command).toMatchObject({ kind: 'permission', title: 'Work', body: '```sh\ntouch one.txt\n```' })
  await answer(taskId, command?.id ?? '', 'allow_in_task')
  const [write] = await open(taskId, 1)
  expect(write).toMatchObject({ kind: 'permission', body: expect.stringContaining('+two') })
  await answer(taskId, write?.id ?? '', { choices: ['deny'], text: 'Leave two out.' })
  // The same command again needs nobody.
  await late.reached
  expect((await questionsOf(taskId)).map(({ status }) => status)).toEqual(['answered', 'answered'])
  late.release()
  await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
  const { data } = await ada.ask(getTaskDiff, { params: { taskId } })
  expect(data.changedFiles.map(({ fileName }) => fileName)).toEqual(['one.txt'])
})

test('runs that wait for a person take no slot of the runner', async () => {
  const { ada, projectId } = scene
  const waiting = await Promise.all(
    Array.from({ length: 3 }, () => ada.task(projectId, 'Ask and be stopped')),
  )
  for (const { id } of waiting) await open(id, 1)
  const { id: taskId } = await ada.task(projectId, 'Be done meanwhile')
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  await Promise.all(waiting.map(({ id }) => ada.ask(cancelTask, { params: { taskId: id } })))
  for (const { id } of waiting) await ada.taskOnce(id, hasEnded)
})
