/** A person's message to the agent while it works arrives at once, and only once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat, sendMessage, steerMessage } from '#domain/api/chat.schema.ts'
import { cancelTask } from '#domain/api/tasks.schema.ts'
import { renewableGate } from '../../standins/messagesApi.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const { gate, renew } = renewableGate()
let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    {
      when: /Work on/,
      turns: [
        {
          text: 'I work and work on.',
          hold: { afterWords: 3, gate },
          tools: [{ name: 'Bash', input: { command: 'echo worked', description: 'Work' } }],
        },
        { text: 'Worked.' },
      ],
    },
    // Its answer has not begun when the agent is stopped.
    { when: /Mind the types/, turns: [{ text: 'Minded.', delayMs: 3_000 }] },
  ])
})
afterAll(() => scene?.close())

const statusesOf = async (taskId: string) =>
  (await scene.ada.ask(getChat, { params: { taskId } })).messages.map(({ message, status }) => [
    message,
    status,
  ])

/** The bodies of what the model was asked since then, as text. */
const askedSince = (count: number) => scene.api.requests.slice(count).map(({ body }) => JSON.stringify(body))

test('what is to steer is told to the turn that runs, before it ends', async () => {
  const { ada, api, projectId } = scene
  renew()
  const { id: taskId } = await ada.task(projectId, 'Work on')
  await gate.reached
  const before = api.requests.length
  await ada.ask(sendMessage, { params: { taskId }, body: { message: 'Mind the tests', steer: true } })
  // The model has not seen it before the agent asks the model again.
  expect(await statusesOf(taskId)).toContainEqual(['Mind the tests', 'queued'])
  gate.release()
  const task = await ada.taskOnce(taskId, hasEnded)
  expect(task).toMatchObject({ status: 'completed', execution: { turn: 1 } })
  expect(askedSince(before).at(-1)).toMatch(/Work on.*Mind the tests/)
  expect(await statusesOf(taskId)).toEqual([
    ['Work on', 'completed'],
    ['Mind the tests', 'completed'],
    ['I work and work on.', 'completed'],
    ['Worked.', 'completed'],
  ])
})

test('one that waits is told when the person says so, and the others wait on', async () => {
  const { ada, api, projectId } = scene
  renew()
  const { id: taskId } = await ada.task(projectId, 'Work on')
  const params = { taskId }
  await gate.reached
  await ada.ask(sendMessage, { params, body: { message: 'Later' } })
  const { chatMessage } = await ada.ask(sendMessage, { params, body: { message: 'Mind the docs' } })
  const named = { params: { taskId, messageId: chatMessage.id } }
  await ada.ask(steerMessage, named)
  const before = api.requests.length
  gate.release()
  const task = await ada.taskOnce(taskId, (one) => hasEnded(one) && one.execution?.turn === 2)
  expect(task.status).toBe('completed')
  expect(await ada.refused(steerMessage, named)).toMatchObject({ status: 409, code: 'message_delivered' })
  const asked = askedSince(before)
  const told = asked.find((body) => body.includes('Mind the docs'))
  expect(told).not.toContain('Later')
  expect(asked.at(-1)).toContain('Later')
})

// Holds findings 1.134.
test('agents D1: what has not reached the model when its turn is stopped stays in the queue', async () => {
  const { ada, api, projectId } = scene
  renew()
  const { id: taskId } = await ada.task(projectId, 'Work on')
  const params = { taskId }
  await gate.reached
  await ada.ask(sendMessage, { params, body: { message: 'Mind the types', steer: true } })
  await ada.ask(cancelTask, { params })
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'cancelled' })
  expect(await statusesOf(taskId)).toContainEqual(['Mind the types', 'queued'])

  const before = api.requests.length
  await ada.ask(sendMessage, { params, body: { message: 'Go on' } })
  await ada.taskOnce(taskId, (one) => hasEnded(one) && one.execution?.turn === 3)
  expect(askedSince(before).at(0)).toMatch(/Mind the types/)
  expect(await statusesOf(taskId)).toContainEqual(['Mind the types', 'completed'])
})

test('where no turn runs there is none to steer', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Be done')
  await ada.taskOnce(taskId, hasEnded)
  const { chatMessage } = await ada.ask(sendMessage, {
    params: { taskId },
    body: { message: 'Be done again', steer: true },
  })
  expect(await ada.taskOnce(taskId, (one) => hasEnded(one) && one.execution?.turn === 2)).toMatchObject({
    status: 'completed',
  })
  const named = { params: { taskId, messageId: chatMessage.id } }
  expect(await ada.refused(steerMessage, named)).toMatchObject({ code: 'message_delivered' })
})
