/** What the agent thinks and plans is recorded and read: the real claude with a scripted Messages API. */
import { setTimeout as pause } from 'node:timers/promises'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getChat, getCommands, getTaskImages, sendMessage } from '#domain/api/chat.schema.ts'
import { deleteTask } from '#domain/api/tasks.schema.ts'
import { todosOf } from '#domain/views/todos.ts'
import { bash, delegating, lookingAt, plan, planned } from '../standins/agentDoings.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { picture } from './pictures.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const thought = 'The greeting is in src/greet.js.'
const watched = createGate()
const thinking = createGate()
const scripts: readonly Script[] = [
  {
    when: /^Think first/,
    turns: [{ thinking: thought, text: 'I thought about it.' }],
  },
  {
    when: /^Think aloud/,
    turns: [
      { text: 'First.', tools: [bash('true')], hold: { afterWords: 0, gate: watched } },
      { thinking: thought, text: 'Aloud.', hold: { afterWords: 3, gate: thinking } },
    ],
  },
  {
    when: /^Plan and do/,
    turns: [
      { tools: [plan('Read'), plan('Fix'), plan('Test')] },
      { tools: [planned('1', 'completed')] },
      { tools: [planned('2', 'in_progress')] },
      { text: 'One is done.' },
    ],
  },
  { when: /^Delegate/, turns: delegating },
  {
    when: /^Look around/,
    turns: [
      { thinking: 'Which folder?', text: 'I look into src.', tools: [bash('ls src')] },
      { text: 'There is a src.' },
    ],
  },
  {
    when: /^Look at it/,
    turns: [...lookingAt('/workspace/shot.png', await picture('image/png', 60, 40)), { text: 'It is red.' }],
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

// Shows claude: thinking.
test('a thought is in the log and never among the messages', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Think first')
  const live = await watching(ada, taskId)
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  const thoughts = (await logsOf(taskId)).filter(({ kind }) => kind === 'thinking')
  expect(thoughts).toMatchObject([
    { name: 'thinking', status: 'completed', output: thought, messageId: null },
  ])
  const { messages } = await ada.ask(getChat, { params: { taskId } })
  expect(messages.map(({ message }) => message)).toEqual(['Think first', 'I thought about it.'])
  expect(JSON.stringify(live.of('chat_message'))).not.toContain(thought)
  expect(JSON.stringify(live.of('chat_message_words'))).not.toContain('greeting')
  live.close()
})

test('a thought is told as it is written, under the id of its entry, and apart from words', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Think aloud')
  const live = await watching(ada, taskId)
  watched.release()
  await live.until('the beginning of the thought', () =>
    live.of('thought_words').some(({ offset, text }) => offset === 0 && text.startsWith('The greeting')),
  )
  const toldAt = performance.now()
  expect((await logsOf(taskId)).map(({ kind }) => kind)).toEqual(['run'])
  await pause(100)
  const toldForMs = performance.now() - toldAt
  thinking.release()
  await ada.taskOnce(taskId, hasEnded)
  const entry = (await logsOf(taskId)).at(-1)
  expect(entry).toMatchObject({ kind: 'thinking', output: thought })
  // It is rounded to a millisecond.
  expect(entry?.durationMs).toBeGreaterThan(toldForMs - 1)
  const ids = live.of('thought_words').map(({ executionId, messageId }) => `${executionId}:${messageId}`)
  expect(new Set(ids)).toEqual(new Set([entry?.id]))
  const words = [
    ...live.of('chat_message_words'),
    ...live.of('chat_message_delta'),
    ...live.of('chat_message'),
  ]
  expect(JSON.stringify(words)).not.toContain('greeting')
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

// Shows claude: todos.
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
    { text: 'Fix', state: 'doing' },
    { text: 'Test', state: 'open' },
  ])
})

// Shows claude: context.
test('how full the context is, until the conversation is summarized', async () => {
  const { ada, projectId } = scene
  const { id: taskId, context: before } = await ada.task(projectId, 'Think first, of the context')
  expect(before).toBeUndefined()
  const { context } = await ada.taskOnce(taskId, hasEnded)
  expect(context?.usedTokens).toBeGreaterThan(0)
  expect(context?.windowTokens).toBeGreaterThanOrEqual(200_000)
  await ada.ask(sendMessage, { params: { taskId }, body: { message: '/compact' } })
  const ended = await ada.taskOnce(taskId, (now) => hasEnded(now) && now.execution?.turn === 2)
  expect(ended).toMatchObject({ status: 'completed', context: null })
  expect(await auditOf(taskId, '')).toContain(`"usedTokens":${context?.usedTokens}`)
})

test('what a subagent does and says names the call that it works for, and is no answer', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Delegate')
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  const [call, ...below] = await logsOf(taskId)
  expect(call).toMatchObject({ name: 'Agent', target: 'Look', output: 'There is a src.' })
  expect(call).not.toHaveProperty('parentId')
  expect(below).toMatchObject([
    { kind: 'thinking', output: 'Which folder?', parentId: call?.id },
    { kind: 'said', output: 'I look into src.', parentId: call?.id },
    { name: 'Bash', target: 'ls src', output: 'greet.js', parentId: call?.id },
    { kind: 'said', output: 'There is a src.', parentId: call?.id },
  ])
  const { messages } = await ada.ask(getChat, { params: { taskId } })
  expect(messages.map(({ message }) => message)).toEqual(['Delegate', 'It was looked at.'])
  expect(await auditOf(taskId, '')).toContain('I look into src.')
  const withheld = await auditOf(taskId, '?withhold=answers')
  expect(withheld).toContain('SubagentSaid')
  expect(withheld).not.toContain('I look into src.')
})

test('an image that a tool gives back is kept: listed, shown, in the audit bundle by its hash, and gone with its task', async () => {
  const { ada, projectId, product } = scene
  const { id: taskId } = await ada.task(projectId, 'Look at it')
  const live = await watching(ada, taskId)
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'completed' })
  const looked = (await logsOf(taskId)).find(({ name }) => name === 'Read')
  expect(looked).toMatchObject({ images: [{ name: 'shot.png', type: 'image/png' }], imagesLeftOut: 0 })
  const [image] = looked?.images ?? []
  const address = `${product.base}${image?.url}`
  const shown = await sharp(Buffer.from(await (await fetch(address)).arrayBuffer())).metadata()
  expect(shown).toMatchObject({ format: 'png', width: 60, height: 40 })
  const { images } = await ada.ask(getTaskImages, { params: { taskId } })
  expect(images).toMatchObject([{ id: image?.id, name: 'shot.png' }])

  const kept = () => live.of('task_event').find(({ type }) => type === 'ToolImagesKept')
  await live.until('that it is kept', () => kept() !== undefined)
  const event = kept()
  expect(event).toMatchObject({ data: { images: [{ blob: { size: image?.size } }] } })
  const { hash } = z
    .object({ data: z.object({ images: z.tuple([z.object({ blob: z.object({ hash: z.string() }) })]) }) })
    .transform(({ data }) => data.images[0].blob)
    .parse(event)
  const { 1: manifest = '' } = /"payload":"([^"]+)"/.exec(await auditOf(taskId, '?withhold=tools')) ?? []
  expect(Buffer.from(manifest, 'base64').toString()).toContain(`{"hash":"${hash}","state":"kept"}`)
  live.close()
  await ada.ask(deleteTask, { params: { taskId } })
  await expect.poll(async () => (await fetch(address)).status).toBe(404)
})
