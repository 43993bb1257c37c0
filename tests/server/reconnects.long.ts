/** A thousand reconnects during a running task, over three viewers: each sees everything, once, in order. */
import { afterEach, expect, test } from 'vitest'
import { retryTask, listTasks } from '#domain/api/tasks.ts'
import { note } from '../report/notes.ts'
import { noOwnNats } from '../servers/nats.ts'
import { openLosingBus, type LosingBus } from './losingBus.ts'
import { endlessTurn, holdThroughReconnects } from './reconnecting.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

let scene: Scene | undefined
let bus: LosingBus | undefined
afterEach(async () => {
  await scene?.close()
  await bus?.close()
  scene = undefined
  bus = undefined
})

test('a thousand reconnects, and a kill -9 of the server among them', async () => {
  const turn = endlessTurn()
  scene = await openScene([turn.script], { env: { REQUESTS_PER_MINUTE: '0' } })
  const { product, ada } = scene
  const held = await holdThroughReconnects({
    scene,
    turn,
    reconnects: 1_000,
    async halfway() {
      await product.kill9()
      await product.restart()
      const [task] = (await ada.ask(listTasks)).tasks
      const taskId = task?.id ?? ''
      expect(await ada.taskOnce(taskId, hasEnded)).toMatchObject({ failure: { code: 'runner_lost' } })
      await ada.ask(retryTask, { params: { taskId } })
    },
  })
  expect(held.reconnects).toBeGreaterThanOrEqual(1_000)
  note(
    'reconnects during a running task, a kill -9 among them',
    `${held.reconnects} over three viewers, up to ${held.reconnectsASecond.toFixed(0)} a second of one; ${held.events} events each`,
  )
})

test('a thousand reconnects, with every second message of the bus lost', async (context) => {
  if (noOwnNats !== undefined) return context.skip(noOwnNats)
  bus = await openLosingBus()
  const { reconnects, events, lost, passed } = await bus.holdThroughReconnects(1_000)
  expect(reconnects).toBeGreaterThanOrEqual(1_000)
  // Appends are told as they come, projections by batches.
  expect(lost).toBeGreaterThan(events / 4)
  expect(passed - lost).toBeLessThanOrEqual(3)
})
