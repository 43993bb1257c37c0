/** Stopping: a person cancels or deletes a task, or the server is told to end. No process goes on, and what can continue later does. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import {
  cancelTask,
  createTask,
  deleteTask,
  executeTask,
  getTask,
  listTasks,
  retryTask,
} from '#domain/api/tasks.schema.ts'
import { renewableGate } from '../standins/messagesApi.ts'
import { eventually } from './engines.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const { gate, renew } = renewableGate()

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    { when: /Talk on/, turns: [{ text: 'I talk and talk on.', hold: { afterWords: 3, gate } }] },
    {
      when: /Sleep long/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: 'sleep 600 & sleep 700', description: 'Sleep' } }] },
      ],
    },
    { when: /Go on/, turns: [{ text: 'I have gone on.' }] },
  ])
})
afterAll(() => scene?.close())
beforeEach(() => {
  renew()
})

const isSleeping = async () =>
  (await scene.product.processes()).some(({ command }) => /^sleep 700|bash.*sleep 700/.test(command))

/** A task whose agent stands in the middle of an answer. */
async function talking() {
  const task = await scene.ada.task(scene.projectId, 'Talk on')
  await gate.reached
  return task
}
/** A task whose agent has a program running that does not end by itself. */
async function sleeping() {
  const task = await scene.ada.task(scene.projectId, 'Sleep long')
  await eventually('the program runs', isSleeping)
  return task
}

describe('cancelling', () => {
  // Holds contract 7.29b.
  test('ends an answer within seconds, and the session goes on with the next message', async () => {
    const { ada, api } = scene
    const task = await talking()
    const params = { taskId: task.id }
    const live = await watching(ada, task.id)
    await ada.ask(cancelTask, { params })
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({
      status: 'cancelled',
      failure: null,
    })
    await live.until(
      'the status',
      ({ name, payload }) => name === 'task_status_changed' && payload.status === 'cancelled',
    )

    const before = api.requests.length
    await ada.ask(sendMessage, { params, body: { message: 'Go on' } })
    await ada.taskOnce(task.id, ({ status }) => status === 'completed')
    const seen = JSON.stringify(api.requests.slice(before).map(({ body }) => body))
    expect(seen).toContain('Talk on')
    expect(seen).toContain('Go on')
    const { messages } = await ada.ask(getChat, { params })
    expect(messages.at(-1)).toMatchObject({ message: 'I have gone on.' })
    live.close()
  })

  test('ends what the agent had started, with all its children', async () => {
    const { ada } = scene
    const task = await sleeping()
    await ada.ask(cancelTask, { params: { taskId: task.id } })
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'cancelled' })
    await eventually('it is gone', async () => !(await isSleeping()))
  })

  // Holds contract 7.36d.
  test('ends a command, and the task has its status back', async () => {
    const { ada, projectId } = scene
    const task = await ada.task(projectId, 'Go on')
    const params = { taskId: task.id }
    await ada.taskOnce(task.id, hasEnded)
    const live = await watching(ada, task.id)
    await ada.ask(executeTask, { params, body: { command: 'sleep 700' } })
    await eventually('it runs', isSleeping)
    await ada.ask(cancelTask, { params })
    await live.until('its end', ({ name }) => name === 'command_cancelled')
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
    await eventually('it is gone', async () => !(await isSleeping()))
    live.close()
  })

  test('stops the queue: what waited is not begun by itself, and is when it is asked for', async () => {
    const { ada } = scene
    const task = await talking()
    const params = { taskId: task.id }
    await ada.ask(sendMessage, { params, body: { message: 'Go on' } })
    await ada.ask(cancelTask, { params })
    await ada.taskOnce(task.id, ({ status }) => status === 'cancelled')
    const { messages } = await ada.ask(getChat, { params })
    expect(messages.find(({ message }) => message === 'Go on')).toMatchObject({ status: 'queued' })
    await ada.ask(executeTask, { params })
    await ada.taskOnce(task.id, ({ status }) => status === 'completed')
  })

  test('is refused where nothing runs, and asked twice is once', async () => {
    const { ada } = scene
    const task = await talking()
    const params = { taskId: task.id }
    await Promise.all([ada.ask(cancelTask, { params }), ada.ask(cancelTask, { params })])
    await ada.taskOnce(task.id, hasEnded)
    expect(await ada.refused(cancelTask, { params })).toMatchObject({ status: 409, code: 'not_running' })
  })
})

describe('while a turn runs', () => {
  // Holds contract 4.3a.
  test('a message waits and is the next turn; a command, a bare execute and a retry are refused', async () => {
    const { ada } = scene
    const task = await talking()
    const params = { taskId: task.id }
    const { chatMessage } = await ada.ask(sendMessage, { params, body: { message: 'Go on' } })
    expect(chatMessage).toMatchObject({ status: 'queued' })
    expect(await ada.refused(executeTask, { params })).toMatchObject({ status: 409, code: 'task_running' })
    const body = { command: 'echo now' }
    expect(await ada.refused(executeTask, { params, body })).toMatchObject({
      status: 409,
      code: 'task_running',
    })
    expect(await ada.refused(retryTask, { params })).toMatchObject({ status: 409, code: 'task_running' })
    gate.release()
    await ada.taskOnce(task.id, (now) => hasEnded(now) && now.execution?.turn === 2)
    const { messages } = await ada.ask(getChat, { params })
    expect(messages.map(({ message }) => message).toSorted()).toEqual(
      ['Talk on', 'I talk and talk on.', 'Go on', 'I have gone on.'].toSorted(),
    )
  })
})

describe('deleting', () => {
  // Holds contract 7.21.
  test('ends what runs, and the task is no more', async () => {
    const { ada } = scene
    const task = await sleeping()
    const params = { taskId: task.id }
    const live = await watching(ada, task.id)
    expect(await ada.ask(deleteTask, { params })).toMatchObject({ success: true })
    expect(await ada.refused(getTask, { params })).toMatchObject({ status: 404, code: 'not_found' })
    expect((await ada.ask(listTasks)).tasks.map(({ id }) => id)).not.toContain(task.id)
    await eventually('it is gone', async () => !(await isSleeping()))
    expect(await live.join(task.id)).toMatchObject({ joined: false, code: 'not_found' })
    expect(await ada.refused(deleteTask, { params })).toMatchObject({ status: 404 })
    live.close()
  })
})

describe('SIGTERM', () => {
  test('ends what runs, leaves nothing and exits in time; the next start knows why, and the work goes on', async () => {
    const { ada, product, projectId } = scene
    const task = await talking()
    const other = await sleeping()
    const waiting = await ada.ask(createTask, {
      body: { description: 'Go on', projectId, branch: 'main' },
    })
    const [open, asleep] = await Promise.all([ada.socket(), watching(ada, task.id)])
    asleep.fallAsleep()
    await product.terminate()
    expect(await product.processes()).toEqual([])
    open.close()
    asleep.close()
    gate.release()

    await product.restart()
    for (const { id } of [task, other]) {
      expect(await ada.taskOnce(id, hasEnded)).toMatchObject({
        status: 'failed',
        failure: { code: 'server_stopped', reason: expect.stringMatching(/server stopped.*\.$/) },
      })
    }
    const third = await ada.taskOnce(waiting.task.id, hasEnded)
    expect(['completed', 'server_stopped']).toContain(third.failure?.code ?? third.status)
    await ada.ask(retryTask, { params: { taskId: task.id } })
    expect(await ada.taskOnce(task.id, hasEnded)).toMatchObject({ status: 'completed' })
  })
})
