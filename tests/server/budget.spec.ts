/** What a person may use in a day: the turn that used the last of it ends well, and the next is refused its model with the reason. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hasEnded, openScene, type Scene } from './scene.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene([{ when: /Say/, turns: [{ text: 'Said.' }] }], { env: { DAY_TOKENS: '10' } })
})
afterAll(() => scene?.close())

test('a person whose day is used up is told so', async () => {
  const { ada, projectId } = scene
  const first = await ada.task(projectId, 'Say one')
  expect((await ada.taskOnce(first.id, hasEnded)).status).toBe('completed')
  const second = await ada.task(projectId, 'Say two')
  expect(await ada.taskOnce(second.id, hasEnded)).toMatchObject({
    status: 'failed',
    failure: { code: 'budget', reason: 'The budget of this day is used up.' },
  })
})
