/** One person with more runs than there are slots, and another person who comes later. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository } from '#domain/api/projects.schema.ts'
import { getTask } from '#domain/api/tasks.schema.ts'
import { createGate } from '../../standins/messagesApi.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

const gate = createGate()
let scene: Scene
beforeAll(async () => {
  const turns = [{ text: 'I talk on and on.', hold: { afterWords: 2, gate } }]
  const scripts = [
    { when: /Talk on/, turns },
    { when: /Be quick/, turns: [{ text: 'Done.' }] },
  ]
  scene = await openScene(scripts, { env: { RUNS_AT_ONCE: '2' } })
})
afterAll(async () => {
  gate.release()
  await scene?.close()
})

// Holds findings 1.52.
test('finding 15: who comes later has a turn while the runs of another go on', async () => {
  const { ada, projectId, product } = scene
  const tasks = []
  for (let asked = 0; asked < 4; asked += 1) tasks.push(await ada.task(projectId, 'Talk on'))
  const first = tasks[0]?.id ?? ''
  await ada.taskOnce(first, ({ status }) => status === 'running')

  const grace = await product.signIn('grace')
  await grace.ask(createRepository, { body: { name: 'own', description: '', private: false } })
  const own = await grace.project('own')
  const { id } = await grace.task(own, 'Be quick')
  expect(await grace.taskOnce(id, hasEnded)).toMatchObject({ status: 'completed' })
  const states = await Promise.all(tasks.map(({ id }) => ada.ask(getTask, { params: { taskId: id } })))
  expect(states.map(({ task }) => task.status)).toEqual(['running', 'queued', 'queued', 'queued'])
})
