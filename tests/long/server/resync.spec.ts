/** A viewer who was away for longer than messages are kept is told to read the history. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTerminal } from '#domain/api/chat.schema.ts'
import { executeTask } from '#domain/api/tasks.schema.ts'
import { hasEnded, openScene, type Scene } from '../../server/scene.ts'

let scene: Scene
let taskId = ''
beforeAll(async () => {
  scene = await openScene([])
  taskId = (await scene.ada.task(scene.projectId, 'Be ready')).id
  await scene.ada.taskOnce(taskId, hasEnded)
})
afterAll(() => scene?.close())

test('who missed more than can be told again is sent to the history', async () => {
  const { ada } = scene
  const params = { taskId }
  const { output } = await ada.ask(getTerminal, { params, query: { limit: '5000' } })
  // More than a thousand pieces of 16 KiB.
  const command = 'head -c 17500000 /dev/zero | tr "\\0" "x" | fold -w 200'
  await ada.ask(executeTask, { params, body: { command } })
  await ada.taskOnce(taskId, hasEnded, 300_000)
  const live = await ada.socket()
  expect(await live.join(taskId, output.at(-1)?.position ?? null)).toMatchObject({
    joined: true,
    resync: true,
  })
  expect(live.heard).toEqual([])
  await ada.ask(executeTask, { params, body: { command: 'echo after' } })
  await live.until(
    'what comes now',
    ({ name, payload }) => name === 'terminal_output' && payload.content.includes('after'),
  )
  live.close()
})
