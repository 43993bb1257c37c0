/** Queued messages can be edited, reordered and withdrawn until they are delivered, and outlast a restart. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { editMessage, getChat, reorderQueue, sendMessage, withdrawMessage } from '#domain/api/chat.schema.ts'
import { cancelTask, createTask, executeTask, getTask, retryTask } from '#domain/api/tasks.schema.ts'
import { renewableGate } from '../standins/messagesApi.ts'
import { hasEnded, openScene, watching, type Scene } from './scene.ts'

const { gate, renew } = renewableGate()

let scene: Scene
beforeAll(async () => {
  scene = await openScene([
    { when: /Talk on/, turns: [{ text: 'I talk and talk on.', hold: { afterWords: 3, gate } }] },
  ])
})
afterAll(() => scene?.close())

/** A task whose agent stands in the middle of an answer, with messages that wait. */
async function talking(...messages: string[]) {
  renew()
  const task = await scene.ada.task(scene.projectId, 'Talk on')
  await gate.reached
  const params = { taskId: task.id }
  const ids: string[] = []
  for (const message of messages)
    ids.push((await scene.ada.ask(sendMessage, { params, body: { message } })).chatMessage.id)
  return { params, ids }
}
type Talk = Awaited<ReturnType<typeof talking>>

const saidByPeople = async ({ params }: Talk): Promise<readonly (string | null)[]> =>
  (await scene.ada.ask(getChat, { params })).messages.flatMap(({ messageType, message }) =>
    messageType === 'user' ? [message] : [],
  )

/** Lets the agent go on, and gives what it was given from then on, in order, once all is done. */
async function givenToTheAgent({ params }: Talk, turns: number): Promise<readonly string[]> {
  const before = scene.api.requests.length
  gate.release()
  await scene.ada.taskOnce(params.taskId, (task) => hasEnded(task) && task.execution?.turn === turns)
  const last = JSON.stringify(scene.api.requests.slice(before).map(({ body }) => body))
  return [...new Set([...last.matchAll(/Words? \w+/g)].map(([words]) => words))]
}

describe('a message that waits', () => {
  test('written anew is given to the agent in its new words, and every tab is told', async () => {
    const talk = await talking('Words one')
    const live = await watching(scene.ada, talk.params.taskId)
    const [messageId = ''] = talk.ids
    const params = { ...talk.params, messageId }
    const { chatMessage } = await scene.ada.ask(editMessage, { params, body: { message: 'Words anew' } })
    expect(chatMessage).toMatchObject({
      id: messageId,
      message: 'Words anew',
      isEdited: true,
      status: 'queued',
    })
    const heard = await live.until('the new words', ({ name }) => name === 'chat_message')
    expect(heard.payload).toMatchObject({ id: messageId, message: 'Words anew', isEdited: true })
    expect(await givenToTheAgent(talk, 2)).toEqual(['Words anew'])
    expect(await scene.ada.refused(editMessage, { params, body: { message: 'Too late' } })).toMatchObject({
      status: 409,
      code: 'message_delivered',
      current: { task: { id: talk.params.taskId, status: 'completed' } },
    })
    live.close()
  })

  test('may be a command of the agent that works here, and one that does not is refused with what to do instead', async () => {
    const { ada, projectId } = scene
    const talk = await talking('/compact')
    const refusals = [
      await ada.refused(sendMessage, { params: talk.params, body: { message: '/clear' } }),
      await ada.refused(editMessage, {
        params: { ...talk.params, messageId: talk.ids[0] ?? '' },
        body: { message: '/clear' },
      }),
      await ada.refused(createTask, {
        body: { projectId, description: '/clear', branch: 'main', agent: 'claude' },
      }),
    ]
    for (const [index, field] of ['message', 'message', 'description'].entries())
      expect(refusals[index]).toMatchObject({
        status: 400,
        field,
        error: expect.stringContaining('Create a new task to start over'),
      })
    await givenToTheAgent(talk, 2)
    const { messages } = await ada.ask(getChat, { params: talk.params })
    expect(messages.map(({ message }) => message)).toContain('The conversation so far was summarized.')
  })

  // Holds contract 3.5c.
  test('goes in the order it was put in, and what comes later comes last', async () => {
    const talk = await talking('Word a', 'Word b', 'Word c')
    const [a = '', b = '', c = ''] = talk.ids
    const { params } = talk
    const { messages } = await scene.ada.ask(reorderQueue, { params, body: { messageIds: [c, a, b] } })
    expect(messages.map(({ id, queueIndex }) => [id, queueIndex])).toEqual([
      [c, 0],
      [a, 1],
      [b, 2],
    ])
    await scene.ada.ask(sendMessage, { params, body: { message: 'Word d' } })
    const live = await watching(scene.ada, params.taskId)
    await scene.ada.ask(withdrawMessage, { params: { ...params, messageId: a } })
    const gone = await live.until('it is gone', ({ name }) => name === 'chat_message')
    expect(gone.payload).toMatchObject({ id: a, message: 'Word a', isVisible: false })
    live.close()
    // Whoever still believes in the old queue is told what waits.
    const stale = { params, body: { messageIds: [b, c, a] } }
    expect(await scene.ada.refused(reorderQueue, stale)).toMatchObject({
      status: 409,
      code: 'queue_changed',
      field: 'messageIds',
    })
    expect(await givenToTheAgent(talk, 4)).toEqual(['Word c', 'Word b', 'Word d'])
  })

  test('outlasts a kill of the server with its words, its order and its absence', async () => {
    const talk = await talking('Word e', 'Word f', 'Word g')
    const [e = '', f = '', g = ''] = talk.ids
    const { params } = talk
    await scene.ada.ask(reorderQueue, { params, body: { messageIds: [g, f, e] } })
    await scene.ada.ask(editMessage, { params: { ...params, messageId: f }, body: { message: 'Word h' } })
    await scene.ada.ask(withdrawMessage, { params: { ...params, messageId: e } })
    await scene.product.kill9()
    gate.release()
    await scene.product.restart()
    await scene.ada.taskOnce(params.taskId, hasEnded)
    expect(await saidByPeople(talk)).toEqual(['Talk on', 'Word h', 'Word g'])
    renew()
    gate.release()
    // A failed turn stops the queue; asked to go on, it goes on in its order.
    const before = scene.api.requests.length
    await scene.ada.ask(executeTask, { params, body: {} })
    await scene.ada.taskOnce(params.taskId, (task) => hasEnded(task) && task.execution?.turn === 3)
    const given = JSON.stringify(scene.api.requests.slice(before).map(({ body }) => body))
    expect(given.indexOf('Word g')).toBeGreaterThan(0)
    expect(given.indexOf('Word h')).toBeGreaterThan(given.indexOf('Word g'))
    expect(given).not.toContain('Word e')
    expect(given).not.toContain('Word f')
  })
})

describe('what a task is by now', () => {
  test('is told with every refusal because of it', async () => {
    const talk = await talking()
    const { params } = talk
    const running = { status: 409, current: { task: { id: params.taskId, status: 'running' } } }
    expect(await scene.ada.refused(retryTask, { params })).toMatchObject({ ...running, code: 'task_running' })
    expect(await scene.ada.refused(executeTask, { params })).toMatchObject({
      ...running,
      code: 'task_running',
    })
    await scene.ada.ask(cancelTask, { params })
    await scene.ada.taskOnce(params.taskId, hasEnded)
    gate.release()
    const refused = await scene.ada.refused(cancelTask, { params })
    expect(refused).toMatchObject({
      status: 409,
      code: 'not_running',
      current: { task: { status: 'cancelled' } },
    })
    expect(refused.current?.['task']).toEqual((await scene.ada.ask(getTask, { params })).task)
  })
})
