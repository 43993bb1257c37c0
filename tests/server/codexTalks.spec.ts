/** What people and `codex` say to each other while it works: the real CLI, through the product, on a scripted Responses API. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { getChat, getCommands, getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { answerQuestion, listQuestions, type ShownQuestion } from '#domain/api/questions.schema.ts'
import { cancelTask, createTask, getTaskDiff, retryTask, updateTask } from '#domain/api/tasks.schema.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import { codexProgram } from '../codexProgram.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { startResponsesApi, type ResponsesApi } from '../standins/responsesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'
import { isLongRun } from '../longRun.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command } })
const list = (...statuses: readonly string[]) => ({
  name: 'update_plan',
  input: { plan: statuses.map((status, index) => ({ step: `Step ${index + 1}`, status })) },
})
const options = ['Red', 'Blue'].map((label) => ({ label, description: `It is ${label}.` }))
const question = {
  name: 'request_user_input',
  input: { questions: [{ id: 'colour', header: 'Colour', question: 'Which colour?', options }] },
}
const plan = (text: string) => ({ text: `<proposed_plan>\n${text}\n</proposed_plan>\n` })

const speak = createGate()
const work = createGate()
const killed = createGate()
const scripts: readonly Script[] = [
  {
    when: /^Do both/,
    turns: [
      {
        thinking: 'Two steps.',
        text: 'I do both.',
        hold: { afterWords: 0, gate: speak },
        tools: [list('in_progress', 'pending')],
      },
      { tools: [list('completed', 'completed')] },
      { text: 'Both done.' },
    ],
  },
  { when: /^Paint it/, turns: [{ tools: [question] }, { text: 'Painted.' }] },
  { when: /^Ask and be killed/, turns: [{ tools: [question] }, { text: 'Never said.' }] },
  { when: /Which colour\?\s+Blue/, turns: [{ text: 'Blue it is.' }] },
  {
    when: /^Work on/,
    turns: [
      { text: 'I work and work on.', hold: { afterWords: 3, gate: work }, tools: [bash('echo worked')] },
    ],
  },
  { when: /^Mind the tests/, turns: [{ text: 'Minded.' }] },
  { when: /^Plan the change/, turns: [plan('Plan one')] },
  { when: /^I want this plan changed first:\s+Begin with the tests/, turns: [plan('Plan two')] },
  {
    when: /^Implement the plan/,
    turns: [{ tools: [bash('echo planned > planned.txt')] }, { text: 'Carried out.' }],
  },
  {
    when: /^Change it step by step/,
    turns: [{ tools: [bash('touch one.txt')] }, { tools: [bash('touch one.txt')] }, { text: 'Changed.' }],
  },
  { when: /^Sleep/, turns: [{ tools: [bash('sleep 600')] }, { text: 'Never said.' }] },
  {
    when: /^Be killed/,
    turns: [
      { text: 'I have begun it.', tools: [bash('echo begun')] },
      { text: 'More', hold: { afterWords: 0, gate: killed } },
    ],
  },
  { when: /^And then/, turns: [{ text: 'I go on.' }] },
]

let responses: ResponsesApi
let codex: Located
let scene: Scene
beforeAll(async () => {
  responses = await startResponsesApi(scripts)
  codex = await codexProgram()
  scene = await openScene([], {
    env: {
      ...(codex.found && { CODEX_BIN: codex.path }),
      OPENAI_API_KEY: 'sk-a-key-that-only-the-broker-may-hold',
      OPENAI_BASE_URL: responses.baseUrl,
      // By default it depends on the free memory whether an agent waits for the next message.
      WARM_AGENTS: '8',
    },
  })
})
afterAll(async () => {
  speak.release()
  work.release()
  killed.release()
  await scene?.close()
  await responses?.close()
})
beforeEach((context) => {
  if (!codex.found) context.skip(codex.reason)
})

async function begin(description: string, mode?: AgentMode): Promise<string> {
  const body = {
    projectId: scene.projectId,
    description,
    branch: 'main',
    agent: 'codex',
    ...(mode && { mode }),
  } as const
  return (await scene.ada.ask(createTask, { body })).task.id
}
const ended = (taskId: string, turn = 1) =>
  scene.ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === turn, 30_000)
const say = (taskId: string, message: string, steer = false) =>
  scene.ada.ask(sendMessage, { params: { taskId }, body: { message, ...(steer && { steer }) } })
const chatOf = async (taskId: string) =>
  (await scene.ada.ask(getChat, { params: { taskId } })).messages.map(({ message }) => message)
/** What the agent says now, as far as it is recorded. */
const beingSaid = async (taskId: string) =>
  (await scene.ada.ask(getTerminal, { params: { taskId } })).deltas.map(({ text }) => text).join('')
async function open(taskId: string): Promise<ShownQuestion> {
  const find = async () => {
    const { questions } = await scene.ada.ask(listQuestions, { params: { taskId } })
    return questions.find(({ status }) => status === 'open')
  }
  await expect.poll(find).toBeDefined()
  const found = await find()
  if (found === undefined) throw new Error('The question is open no more.')
  return found
}
const answer = (taskId: string, { id }: ShownQuestion, said: string | { choices: string[]; text: string }) =>
  scene.ada.ask(answerQuestion, { params: { taskId, questionId: id }, body: { answer: said } })
const changedFiles = async (taskId: string) =>
  (await scene.ada.ask(getTaskDiff, { params: { taskId } })).data.changedFiles.map(({ fileName }) => fileName)

// Shows codex: streaming, thinking, todos, context.
test('its words come as they are written, its thoughts, its to-do list and its context are told', async () => {
  const taskId = await begin('Do both')
  const live = await watching(scene.ada, taskId)
  speak.release()
  const { context } = await ended(taskId)
  expect(context?.usedTokens).toBeGreaterThan(0)
  expect(context?.usedTokens).toBeLessThan(context?.windowTokens ?? 0)
  const words = () =>
    live
      .of('chat_message_delta')
      .map(({ text }) => text)
      .join('')
  await live.until('every word', () => /I do both\..*Both done\./s.test(words()))
  const { logs } = await scene.ada.ask(getCommands, { params: { taskId } })
  expect(logs.map(({ kind, target }) => [kind, target])).toEqual([
    ['thinking', null],
    ['todo', 'Step 1'],
    ['todo', ''],
  ])
  expect(await chatOf(taskId)).toEqual(['Do both', 'I do both.', 'Both done.'])
  live.close()
})

// Shows codex: questions.
test('its question waits in sight, and the answer reaches it', async () => {
  const taskId = await begin('Paint it')
  const asked = await open(taskId)
  expect(asked).toMatchObject({
    kind: 'question',
    title: 'Which colour?',
    options: [{ value: 'Red', description: 'It is Red.' }, { value: 'Blue' }],
  })
  const { question: answered } = await answer(taskId, asked, 'Blue')
  expect(answered).toMatchObject({ status: 'answered', delivery: 'agent' })
  expect(await ended(taskId)).toMatchObject({ status: 'completed', waitingFor: null })
  expect(await chatOf(taskId)).toContain('Painted.')
  expect(JSON.stringify(responses.requests.at(-1)?.body)).toContain('Blue')
})

test('its question of a run that a crash ended is answered with the next turn, in the same session', async () => {
  const taskId = await begin('Ask and be killed')
  const asked = await open(taskId)
  await scene.product.kill9()
  await scene.product.restart()
  expect(await ended(taskId)).toMatchObject({ status: 'failed', waitingFor: 'question' })
  await answer(taskId, asked, 'Blue')
  expect(await ended(taskId, 2)).toMatchObject({ status: 'completed', waitingFor: null })
  expect(await chatOf(taskId)).toContain('Blue it is.')
  expect(JSON.stringify(responses.requests.at(-1)?.body)).toContain('Ask and be killed')
})

// Shows codex: steering.
test('what is to steer is told to the turn that runs', async () => {
  const taskId = await begin('Work on')
  await work.reached
  // The model has sent no more than this, and codex has to have read it.
  await expect.poll(() => beingSaid(taskId)).toBe('I work and ')
  await say(taskId, 'Mind the tests', true)
  expect(await ended(taskId)).toMatchObject({ status: 'completed' })
  expect(JSON.stringify(responses.requests.at(-1)?.body)).toMatch(/Work on.*Mind the tests/)
  // codex does not finish what it was saying.
  expect(await chatOf(taskId)).toEqual(['Work on', 'Mind the tests', 'I work and ', 'Minded.'])
})

// Shows codex: plan.
test('a plan is sent back with a comment, approved, and carried out', async () => {
  const taskId = await begin('Plan the change', 'plan')
  const first = await open(taskId)
  expect(first).toMatchObject({ kind: 'plan', body: 'Plan one\n' })
  await answer(taskId, first, { choices: ['send_back'], text: 'Begin with the tests.' })
  await expect.poll(async () => (await open(taskId)).body).toBe('Plan two\n')
  expect(await changedFiles(taskId)).toEqual([])
  await answer(taskId, await open(taskId), 'approve')
  expect(await ended(taskId)).toMatchObject({ status: 'completed', mode: 'free', waitingFor: null })
  expect(await changedFiles(taskId)).toEqual(['planned.txt'])
})

// Shows codex: ask.
test('in the mode `ask` each change is shown, and allowed for the task', async () => {
  const taskId = await begin('Change it step by step', 'ask')
  const asked = await open(taskId)
  expect(asked).toMatchObject({ kind: 'permission', body: '```sh\ntouch one.txt\n```' })
  await answer(taskId, asked, 'allow_in_task')
  expect(await ended(taskId)).toMatchObject({ status: 'completed' })
  expect(await changedFiles(taskId)).toEqual(['one.txt'])
  // What was allowed is allowed in a process of its own as well.
  await scene.product.kill9()
  await scene.product.restart()
  await say(taskId, 'Change it step by step, again')
  expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
})

// Other tests show these with the agent alone, so `npm test` leaves them in the whole product to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('it stops within a command when it is cancelled, and goes on in its session', async () => {
    const taskId = await begin('Sleep')
    const runs = async () =>
      (await scene.product.processes()).some(({ command }) => command.includes('sleep 600'))
    await expect.poll(runs).toBe(true)
    await scene.ada.ask(cancelTask, { params: { taskId } })
    expect(await ended(taskId)).toMatchObject({ status: 'cancelled', failure: null })
    expect(await runs()).toBe(false)
    await say(taskId, 'And then?')
    expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
    expect(JSON.stringify(responses.requests.at(-1)?.body)).toMatch(/Sleep.*And then/)
  })
})

test('one process takes message after message', async () => {
  // Agents of other tasks wait as well, and end when they have waited for long enough.
  const others = await agentPids()
  const own = async () => (await agentPids()).filter((pid) => !others.includes(pid))
  const taskId = await begin('And then one')
  await ended(taskId)
  const before = await own()
  expect(before.length).toBeGreaterThan(0)
  await say(taskId, 'And then two')
  expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
  expect(await own()).toEqual(before)
  expect((await chatOf(taskId)).filter((message) => message === 'I go on.')).toHaveLength(2)
})
const agentPids = async () =>
  (await scene.product.processes())
    .filter(({ command }) => command.startsWith('/opt/agent/'))
    .map(({ pid }) => pid)

test('a run that kill -9 ended is tried again in the same session', async () => {
  const taskId = await begin('Be killed')
  await killed.reached
  await scene.product.kill9()
  await scene.product.restart()
  expect(await ended(taskId)).toMatchObject({ status: 'failed', failure: { code: 'runner_lost' } })
  killed.release()
  await scene.ada.ask(retryTask, { params: { taskId } })
  expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
  expect(JSON.stringify(responses.requests.at(-1)?.body)).toContain('I have begun it.')
})

// Other tests show these with the agent alone, so `npm test` leaves them in the whole product to the long tests.
describe.each(isLongRun ? ['in depth'] : [])('%s', () => {
  test('a model that its catalogue lacks is used without a word about that', async () => {
    const taskId = await begin('And then a model')
    await ended(taskId)
    await scene.ada.ask(updateTask, { params: { taskId }, body: { codexModel: 'o4-mini' } })
    await say(taskId, 'And then with it')
    expect(await ended(taskId, 2)).toMatchObject({ status: 'completed', codexModel: 'o4-mini' })
    expect(responses.requests.at(-1)?.body).toMatchObject({ model: 'o4-mini' })
    const { output } = await scene.ada.ask(getTerminal, { params: { taskId } })
    expect(output.map(({ content }) => content).join('')).not.toMatch(/metadata/i)
  })
})

test('its models and efforts are reported, and changed between turns without a restart', async () => {
  const taskId = await begin('And then whichever')
  await ended(taskId)
  const models = async () => {
    const { agents } = await scene.ada.ask(getAgents)
    return agents.find(({ name }) => name === 'codex')?.models ?? []
  }
  await expect.poll(async () => (await models()).length).toBeGreaterThan(1)
  const own = (await models()).find(({ isDefault }) => isDefault)
  const other = (await models()).find(({ isDefault }) => isDefault === undefined)
  expect(other).toMatchObject({
    label: expect.any(String),
    description: expect.any(String),
    effortLevels: expect.arrayContaining(['low', 'high']),
  })
  const before = await agentPids()
  const next = async (turn: number, choice: { codexModel: string | null; effort: string | null }) => {
    await scene.ada.ask(updateTask, { params: { taskId }, body: choice })
    await say(taskId, 'And then so')
    expect(await ended(taskId, turn)).toMatchObject({ status: 'completed' })
    expect(before).toEqual(expect.arrayContaining(await agentPids()))
    return responses.requests.at(-1)?.body
  }
  expect(await next(2, { codexModel: other?.name ?? '', effort: 'high' })).toMatchObject({
    model: other?.name,
    reasoning: { effort: 'high' },
  })
  expect(await next(3, { codexModel: null, effort: 'low' })).toMatchObject({
    model: own?.name,
    reasoning: { effort: 'low' },
  })
})
