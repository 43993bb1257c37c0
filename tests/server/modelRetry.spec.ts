/**
 * A model that is overloaded is asked once more by the same turn: visibly, and so that a person can stop it. The real CLI with a scripted Messages
 * API.
 */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { getChat, getTerminal } from '#domain/api/chat.schema.ts'
import { cancelTask } from '#domain/api/tasks.schema.ts'
import type { Script, Turn } from '../standins/messagesApi.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

/** `isFinal`: the CLI does not first retry by itself, which would take half a minute. */
const overloaded: Turn = { fault: { status: 529, type: 'overloaded_error', isFinal: true } }
const sentence = /^The model is overloaded\. Trying once more at \d\d:\d\d UTC\.$/

const stayingDown: Script = { when: /^Stay down/, turns: [overloaded] }
const recovering: Script = {
  when: /^Recover/,
  get turns() {
    return [isRetried() ? { text: 'Here I am.' } : overloaded]
  },
}
/** Whether the model was asked a second time. */
const isRetried = () =>
  scene.api.requests.filter(({ body }) => JSON.stringify(body).includes('Recover')).length > 1

let scene: Scene
beforeAll(async () => {
  scene = await openScene([recovering, stayingDown], {
    env: { MODEL_RETRY_SECONDS: '3' },
  })
})
afterAll(() => scene?.close())

const chatOf = async (taskId: string, person = scene.ada) =>
  (await person.ask(getChat, { params: { taskId } })).messages

test('agents, overload: the turn says when it tries once more, goes on by itself, and completes', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Recover')
  await expect
    .poll(() => chatOf(taskId))
    .toContainEqual(
      expect.objectContaining({
        messageType: 'system',
        message: expect.stringMatching(sentence),
        modelRetry: { code: 'overloaded', retryAt: expect.stringMatching(/Z$/) },
      }),
    )
  const task = await ada.taskOnce(taskId, hasEnded)
  expect(task).toMatchObject({ status: 'completed', execution: { turn: 1 }, failure: null })
  const messages = await chatOf(taskId)
  expect(messages.map(({ messageType, status }) => [messageType, status])).toEqual([
    ['user', 'completed'],
    ['system', 'completed'],
    ['response', 'completed'],
  ])
  const { output } = await ada.ask(getTerminal, { params: { taskId } })
  expect(output.map(({ content }) => content).join('')).toMatch(
    /The model is overloaded\. Trying once more at/,
  )
})

test('agents, overload: where the model is still overloaded the turn fails with our sentence', async () => {
  const { ada, projectId } = scene
  const { id: taskId } = await ada.task(projectId, 'Stay down')
  const task = await ada.taskOnce(taskId, hasEnded)
  expect(task).toMatchObject({ status: 'failed', failure: { code: 'overloaded' } })
  expect(task.failure?.reason).toMatch(/^The model is overloaded \(529\)\..*Try again in a few minutes\.$/)
  expect((await chatOf(taskId)).filter(({ modelRetry }) => modelRetry !== undefined).length).toBe(1)
})

test('agents, overload: Stop ends the waiting', async () => {
  // The wait is longer than any machine needs to stop it.
  const long = await openScene([stayingDown], { env: { MODEL_RETRY_SECONDS: '3600' } })
  onTestFinished(() => long.close())
  const { ada, api, projectId } = long
  const { id: taskId } = await ada.task(projectId, 'Stay down, and be stopped')
  await expect
    .poll(async () => (await chatOf(taskId, ada)).some(({ modelRetry }) => modelRetry !== undefined))
    .toBe(true)
  const before = api.requests.length
  await ada.ask(cancelTask, { params: { taskId } })
  expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ status: 'cancelled' })
  expect(api.requests.length).toBe(before)
})
