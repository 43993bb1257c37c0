/** What the agent thinks and plans is recorded and read: the real claude with a scripted Messages API. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, getCommands } from '#domain/api/chat.schema.ts'
import { todosOf } from '#domain/views/todos.ts'
import type { Script } from '../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const thought = 'The greeting is in src/greet.js.'
const make = (subject: string) => ({ name: 'TaskCreate', input: { subject, description: `${subject} it.` } })
const scripts: readonly Script[] = [
  {
    when: /^Think first/,
    turns: [{ thinking: thought, text: 'I thought about it.', pauseMs: 60 }],
  },
  {
    when: /^Plan and do/,
    turns: [
      { tools: [make('Read'), make('Fix'), make('Test')] },
      { tools: [{ name: 'TaskUpdate', input: { taskId: '1', status: 'completed' } }] },
      { tools: [{ name: 'TaskUpdate', input: { taskId: '2', status: 'in_progress' } }] },
      { text: 'One is done.' },
    ],
  },
  {
    when: /^Delegate/,
    turns: [
      {
        tools: [
          {
            name: 'Agent',
            input: { subagent_type: 'general-purpose', description: 'Look', prompt: 'Look around' },
          },
        ],
      },
      { text: 'It was looked at.' },
    ],
  },
  {
    when: /^Look around/,
    turns: [
      { tools: [{ name: 'Bash', input: { command: 'ls src', description: 'List' } }] },
      { text: 'There is a src.' },
    ],
  },
]

let scene: Scene
beforeAll(async () => {
  scene = await openScene(scripts)
})
afterAll(() => scene?.close())

const logsOf = async (taskId: string) => (await scene.ada.ask(getCommands, { params: { taskId } })).logs
const auditOf = async (taskId: string, query: string) => {
  const { text } = await scene.ada.api('GET', `/tasks/${taskId}/audit${query}`)
  return text
}

test('a thought is in the log and never among the messages', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Think first')
  const live = await watching(ada, taskId)
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  const thoughts = (await logsOf(taskId)).filter(({ kind }) => kind === 'thinking')
  expect(thoughts).toMatchObject([
    { name: 'thinking', status: 'completed', output: thought, messageId: null },
  ])
  expect(thoughts[0]?.durationMs).toBeGreaterThan(100)
  const { messages } = await ada.ask(getChat, { params: { taskId } })
  expect(messages.map(({ message }) => message)).toEqual(['Think first', 'I thought about it.'])
  expect(JSON.stringify(live.of('chat_message'))).not.toContain(thought)
  expect(JSON.stringify(live.of('chat_message_words'))).not.toContain('greeting')
  live.close()
})

test('a thought is in the audit bundle, and left out with the answers', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Think first, again')
  await ada.taskOnce(taskId, hasEnded)
  expect(await auditOf(taskId, '')).toContain(thought)
  const withheld = await auditOf(taskId, '?withhold=answers')
  expect(withheld).toContain('ThinkingRecorded')
  expect(withheld).not.toContain(thought)
})

test('the to-do list of claude is folded from its calls', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Plan and do')
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  const calls = (await logsOf(taskId)).filter(({ kind }) => kind === 'todo')
  expect(calls.map(({ name, status }) => [name, status])).toEqual([
    ['TaskCreate', 'completed'],
    ['TaskCreate', 'completed'],
    ['TaskCreate', 'completed'],
    ['TaskUpdate', 'completed'],
    ['TaskUpdate', 'completed'],
  ])
  expect(calls[2]?.output).toMatch(/^Task #3 created/)
  expect(todosOf(calls)).toEqual([
    { text: 'Read', state: 'done' },
    { text: 'Fix', state: 'open' },
    { text: 'Test', state: 'open' },
  ])
})

test('what a subagent does names the call that it works for', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Delegate')
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  const [call, below, ...others] = await logsOf(taskId)
  expect(others).toEqual([])
  expect(call).toMatchObject({ name: 'Agent', target: 'Look', status: 'completed' })
  expect(call).not.toHaveProperty('parentId')
  expect(below).toMatchObject({ name: 'Bash', target: 'ls src', output: 'greet.js', parentId: call?.id })
})
