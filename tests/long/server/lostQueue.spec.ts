/** Services in processes of their own lose streams of JetStream while tasks wait and run: the sweep makes each task run or end. */
import { setTimeout as pause } from 'node:timers/promises'
import { connect, type NatsConnection } from 'nats'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { deleteTask, executeTask } from '#domain/api/tasks.schema.ts'
import { note } from '../../report/notes.ts'
import { forMongo } from '../../servers/sharedEngines.ts'
import { changeSomething, openApartScene, readyTask, type ApartScene } from '../../server/apartScene.ts'
import { hasEnded } from '../../server/scene.ts'

const mongo = await forMongo()
/** The sweep runs every minute; on a busy machine the runs after it take longer. */
const endedWithinMs = 300_000

describe.skipIf('missing' in mongo)('the queue', () => {
  let scene: ApartScene
  let nats: NatsConnection
  beforeAll(async () => {
    if ('missing' in mongo) return
    scene = await openApartScene(
      mongo.server,
      [changeSomething],
      {},
      {
        // What was erased is told in its log.
        env: { RUNS_AT_ONCE: '1', LOG_LEVEL: 'info' },
      },
    )
    nats = await connect({ servers: scene.engines.nats.url })
  })
  afterAll(async () => {
    await nats?.close()
    await scene?.close()
  })

  const losses = [
    { what: 'its jobs alone', names: ['queue'] },
    { what: 'its jobs and where they stand', names: ['queue', 'standings'] },
    { what: 'all that it had', names: ['queue', 'standings', 'rejected', 'marks'] },
  ]
  test.each(losses)('that loses $what strands no task', async ({ what, names }) => {
    const { ada, projectId } = scene
    const running = await readyTask(scene)
    const params = { taskId: running.id }
    await ada.ask(executeTask, { params, body: { command: 'sleep 15; echo over' } })
    await ada.taskOnce(running.id, ({ status }) => status === 'running')
    const waiting = [
      await ada.task(projectId, 'Change something'),
      await ada.task(projectId, 'Change something else'),
    ]
    const { streams } = await nats.jetstreamManager()
    for (const name of names) expect(await streams.delete(`flightdeck-jobs-${name}`)).toBe(true)
    const lost = performance.now()
    const ended = await Promise.all(
      [running, ...waiting].map(({ id }) => ada.taskOnce(id, hasEnded, endedWithinMs)),
    )
    const seconds = Math.round((performance.now() - lost) / 1_000)
    const statuses = ended.map(({ status }) => status)
    note('a queue that loses streams', `${what}: ${statuses.join(', ')} after ${seconds} s`)
    expect(statuses.slice(1)).toEqual(['completed', 'completed'])
  })

  test('that loses the job of an erasure erases what was deleted all the same', async () => {
    const { ada, product } = scene
    const [command, query] = [product.of.command[0], product.of.query[0]]
    const { id } = await readyTask(scene)
    const hasErased = () => command?.logs.stderr.includes(`"stream":"task-${id}","msg":"erased"`)
    // Without views the erasure cannot end, and its job is there when the queue goes.
    await query?.kill9()
    await ada.ask(deleteTask, { params: { taskId: id } })
    // The dispatcher notes within a second that it has queued the job.
    await pause(3_000)
    await command?.kill9()
    expect(hasErased()).toBe(false)
    const { streams } = await nats.jetstreamManager()
    expect(await streams.delete('flightdeck-jobs-queue')).toBe(true)
    await Promise.all([query?.start(), command?.start()])
    await vi.waitFor(() => expect(hasErased()).toBe(true), { timeout: endedWithinMs, interval: 500 })
  })
})
