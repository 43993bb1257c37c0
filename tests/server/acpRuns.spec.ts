/** Runs of an agent that speaks ACP, through the product: the real `opencode` on a scripted Messages API. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { getChat, getCommands, sendMessage } from '#domain/api/chat.schema.ts'
import { answerQuestion, listQuestions } from '#domain/api/questions.schema.ts'
import { getAgents } from '#domain/api/server.schema.ts'
import { cancelTask, createTask, getTaskDiff } from '#domain/api/tasks.schema.ts'
import type { AgentMode } from '#domain/task/questionEvents.ts'
import type { Located } from '../../services/runner/agents/locate.ts'
import { opencodeProgram } from '../opencodeProgram.ts'
import { apiKey } from '../product.ts'
import { note } from '../report/notes.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const gate = createGate()
const bash = (command: string) => ({ name: 'bash', input: { command, description: 'Work' } })
const write = (file: string) => ({
  name: 'write',
  input: { filePath: `/workspace/${file}`, content: 'Written.\n' },
})
const scripts: readonly Script[] = [
  {
    when: /^Write note\.txt/,
    turns: [
      {
        thinking: 'A note, then.',
        text: 'I write it now.',
        tools: [
          {
            name: 'todowrite',
            input: {
              todos: [
                { content: 'Write the note', status: 'in_progress', priority: 'high' },
                { content: 'Look at it', status: 'pending', priority: 'low' },
              ],
            },
          },
          write('note.txt'),
        ],
      },
      { tools: [bash('env; cat /proc/$PPID/environ | tr "\\0" "\\n"; exit 3')] },
      { text: 'Written, and looked.' },
    ],
  },
  { when: /What did you write\?$/, turns: [{ text: 'A note.' }] },
  { when: /And where\?$/, turns: [{ text: 'In note.txt.' }] },
  { when: /^Wait/, turns: [{ text: 'I have begun. And I go on.', hold: { afterWords: 3, gate } }] },
  {
    when: /^Change it step by step/,
    turns: [
      { tools: [bash('touch one.txt')] },
      { tools: [write('two.txt')] },
      { tools: [bash('touch one.txt')] },
      { text: 'Changed.' },
    ],
  },
  { when: /^Plug in/, turns: [{ tools: [write('.opencode/plugin/own.js')] }, { text: 'Plugged in.' }] },
  { when: /^Answer 401/, turns: [{ fault: { status: 401, type: 'authentication_error' } }] },
]

let program: Located
let scene: Scene
beforeAll(async () => {
  program = await opencodeProgram()
  if (!program.found) return
  scene = await openScene(scripts, { env: { OPENCODE_BIN: program.path } })
  note('runs of opencode', 'the real CLI, on a scripted Messages API, not Anthropic')
}, 360_000)
beforeEach((context) => {
  if (!program.found) context.skip(program.reason)
})
afterAll(async () => {
  gate.release()
  await scene?.close()
})

const begin = async (description: string, mode: AgentMode = 'free') => {
  const agent = 'opencode' as const
  const body = { projectId: scene.projectId, description, branch: 'main', agent, mode }
  return (await scene.ada.ask(createTask, { body })).task.id
}
const of = (taskId: string) => ({ params: { taskId } })
const ended = (taskId: string, turn = 1) =>
  scene.ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === turn, 60_000)
const answersOf = async (taskId: string) =>
  (await scene.ada.ask(getChat, of(taskId))).messages
    .filter(({ messageType }) => messageType === 'response')
    .map(({ message }) => message)
const say = (taskId: string, message: string) =>
  scene.ada.ask(sendMessage, { ...of(taskId), body: { message } })
const earlier = () => JSON.stringify(scene.api.requests.at(-1)?.body)

test('it streams its text, keeps a to-do list, and goes on after a restart of the server', async () => {
  const taskId = await begin('Write note.txt')
  const live = await watching(scene.ada, taskId)
  expect(await ended(taskId)).toMatchObject({ status: 'completed', failure: null })
  const streamed = live.of('chat_message_delta').map(({ text }) => text)
  live.close()
  expect(streamed.join('')).toContain('I write it now.')
  expect(await answersOf(taskId)).toEqual(['I write it now.', 'Written, and looked.'])
  const { data } = await scene.ada.ask(getTaskDiff, of(taskId))
  expect(data.changedFiles).toMatchObject([{ fileName: 'note.txt', additions: 1 }])
  const { logs } = await scene.ada.ask(getCommands, of(taskId))
  expect(logs).toMatchObject([
    { kind: 'thinking', name: 'thinking', status: 'completed', output: 'A note, then.' },
    { kind: 'todo', name: 'Todo', status: 'completed', input: expect.stringContaining('Look at it') },
    { kind: 'edit', name: 'Write', target: 'note.txt', status: 'completed' },
    { kind: 'run', name: 'Bash', target: expect.stringContaining('environ'), status: 'failed', exitCode: 3 },
  ])
  expect(JSON.stringify(logs)).not.toContain(apiKey)
  expect(scene.api.requests.every(({ headers }) => headers['x-api-key'] === apiKey)).toBe(true)

  await say(taskId, 'What did you write?')
  expect(await ended(taskId, 2)).toMatchObject({ status: 'completed' })
  expect(await answersOf(taskId)).toContain('A note.')
  expect(earlier()).toContain('I write it now.')

  await scene.product.kill9()
  await scene.product.restart()
  await say(taskId, 'And where?')
  expect(await ended(taskId, 3)).toMatchObject({ status: 'completed' })
  expect((await answersOf(taskId)).at(-1)).toBe('In note.txt.')
  expect(earlier()).toContain('A note.')
})

test('it asks before each change, and not again what is allowed in the task', async () => {
  const { ada } = scene
  const questions = async (taskId: string) => (await ada.ask(listQuestions, of(taskId))).questions
  const answer = async (taskId: string, count: number, said: string) => {
    await expect.poll(async () => (await questions(taskId)).length, { timeout: 40_000 }).toBe(count)
    const asked = (await questions(taskId)).at(-1)
    await ada.ask(answerQuestion, {
      params: { taskId, questionId: asked?.id ?? '' },
      body: { answer: said },
    })
    return asked
  }
  const taskId = await begin('Change it step by step', 'ask')
  expect(await answer(taskId, 1, 'allow_in_task')).toMatchObject({
    kind: 'permission',
    title: 'Run a command',
    body: '```sh\ntouch one.txt\n```',
    allowsText: false,
  })
  expect(await answer(taskId, 2, 'allow')).toMatchObject({
    title: 'Edit two.txt',
    body: expect.stringContaining('+Written.'),
  })
  expect(await ended(taskId)).toMatchObject({ status: 'completed' })
  expect((await answersOf(taskId)).at(-1)).toBe('Changed.')
  expect((await questions(taskId)).map(({ isDelivered }) => isDelivered)).toEqual([true, true])
})

test('it stops when it is cancelled, and nothing of it is left', async () => {
  const running = async () =>
    (await scene.product.processes())
      .filter(({ command }) => command.startsWith('/opt/agent/'))
      .map(({ pid }) => pid)
  // Agents of other tasks wait for their next message.
  const others = await running()
  const taskId = await begin('Wait')
  const live = await watching(scene.ada, taskId)
  await live.until('its first words', () =>
    live.of('chat_message_delta').some(({ text }) => text.includes('begun')),
  )
  live.close()
  const pids = (await running()).filter((pid) => !others.includes(pid))
  expect(pids.length).toBeGreaterThan(0)
  await scene.ada.ask(cancelTask, of(taskId))
  expect(await scene.ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'cancelled', failure: null })
  expect((await running()).filter((pid) => pids.includes(pid))).toEqual([])
})

test('a key that its model refuses is told in a sentence', async () => {
  const taskId = await begin('Answer 401')
  const { failure } = await ended(taskId)
  expect(failure).toMatchObject({
    code: 'unauthorized',
    reason: expect.stringContaining('ANTHROPIC_API_KEY'),
  })
})

test('it is not started where the repository names programs to run', async () => {
  const taskId = await begin('Plug in')
  expect(await ended(taskId)).toMatchObject({ status: 'completed' })
  await say(taskId, 'Go on')
  const { failure } = await ended(taskId, 2)
  expect(failure).toMatchObject({ code: 'no_agent', reason: expect.stringContaining('.opencode') })
})

test('it is told as installed, with its version', async () => {
  const { agents } = await scene.ada.ask(getAgents, {})
  expect(agents.find(({ name }) => name === 'opencode')).toMatchObject({
    installed: true,
    version: program.found ? program.version : null,
    keyInSandbox: false,
    missing: null,
  })
})
