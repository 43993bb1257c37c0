/** A server that is told to stop lets its runs end first, if it may, and leaves what comes meanwhile to the next start. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getChat } from '#domain/api/chat.schema.ts'
import { createGate } from '../standins/messagesApi.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const gate = createGate()

let scene: Scene
beforeAll(async () => {
  scene = await openScene(
    [
      { when: /Talk on/, turns: [{ text: 'I talk and talk on.', hold: { afterWords: 3, gate } }] },
      { when: /Come later/, turns: [{ text: 'I came later.' }] },
    ],
    { env: { DRAIN_SECONDS: '600' } },
  )
})
afterAll(() => scene?.close())

test('a run in progress is completed, and a new one waits for the next start', async () => {
  const talking = await scene.ada.task(scene.projectId, 'Talk on')
  await gate.reached
  const ended = scene.product.terminate()
  const later = await scene.ada.task(scene.projectId, 'Come later')
  gate.release()
  await ended
  await scene.product.restart()
  const { messages } = await scene.ada.ask(getChat, { params: { taskId: talking.id } })
  expect(messages.at(-1)).toMatchObject({ message: 'I talk and talk on.' })
  for (const { id } of [talking, later])
    expect(await scene.ada.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
})
