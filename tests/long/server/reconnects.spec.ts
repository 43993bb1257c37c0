/** A thousand reconnects of three viewers during a running task: each viewer sees everything, once, in order. */
import { afterEach, expect, test } from 'vitest'
import { getTerminal, sendMessage } from '#domain/api/chat.schema.ts'
import { listTasks, retryTask } from '#domain/api/tasks.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import type { Person } from '../../product/person.ts'
import { note } from '../../report/notes.ts'
import { noOwnNats } from '../../servers/nats.ts'
import { openLosingBus, type LosingBus } from '../../server/losingBus.ts'
import { endlessTurn, holdThroughReconnects } from '../../server/reconnecting.ts'
import { hasEnded, openScene, watching, type Scene } from '../../server/scene.ts'

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
  const { reconnects, events, lost, passed, subjects } = await bus.holdThroughReconnects(1_000)
  expect(reconnects).toBeGreaterThanOrEqual(1_000)
  // Appends are told as they come, projections by batches.
  expect(lost).toBeGreaterThan(events / 4)
  expect(passed - lost).toBeLessThanOrEqual(subjects)
})

test('one viewer that comes back twenty times a second, for ten seconds, is let in each time and disturbs nobody', async () => {
  const turn = endlessTurn()
  // With the limits that everybody has.
  scene = await openScene([turn.script])
  const { ada, projectId } = scene
  const task = await ada.task(projectId, 'Be ready')
  await ada.taskOnce(task.id, hasEnded)
  const steady = await watching(ada, task.id)
  await ada.ask(sendMessage, { params: { taskId: task.id }, body: { message: 'Count' } })

  const comings: Promise<{ joined: boolean; cameAt: number }>[] = []
  for (let n = 0; n < 200; n += 1) {
    comings.push(comeAndGo(ada, task.id, task.position))
    await pause(50)
  }
  const came = await Promise.all(comings)
  expect(came.filter(({ joined }) => joined)).toHaveLength(200)
  const seconds = (Math.max(...came.map(({ cameAt }) => cameAt)) - (came[0]?.cameAt ?? 0)) / 1_000
  note('reconnects of one viewer', `200 in ${seconds.toFixed(1)} s, within the usual limits`)

  turn.enough()
  await steady.until(
    'the end',
    ({ name, payload }) => name === 'task_status_changed' && payload.status === 'completed',
  )
  const { output } = await ada.ask(getTerminal, { params: { taskId: task.id }, query: { limit: '5000' } })
  const heard = steady.of('terminal_output').map(({ position }) => position)
  expect(output.slice(-heard.length).map(({ position }) => position)).toEqual(heard)
  steady.close()
})

async function comeAndGo(ada: Person, taskId: string, last: Position) {
  const live = await ada.socket()
  const cameAt = performance.now()
  const { joined } = await live.join(taskId, last)
  live.close()
  return { joined, cameAt }
}

const pause = (ms: number) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
