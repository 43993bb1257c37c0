/** Streams that are set aside: listed as soon as anything refuses them, marked in their documents, and released again. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import { commands } from '#platform/commands/execute.ts'
import type { DamagedRecord, EventStore, LogRecord } from '#platform/ports/eventStore.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import { startProjector } from '../../query/projection/projector.ts'
import { startFeed, type Viewer } from '../../gateway/live/feed.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { eventLog, UnreadableEvent } from './eventLog.ts'
import { inspectQuarantined, listQuarantined, releaseQuarantined, quarantiner } from './quarantine.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

/** Engines over a store in which the test can damage the rows of a stream and repair them. */
function damageable() {
  const damaged = new Set<string>()
  const of = (record: LogRecord): LogRecord => {
    const { stream, revision, position, type } = record
    const hurt: DamagedRecord = {
      stream,
      revision,
      position,
      type,
      damage: 'no_json',
      hash: null,
      beginning: '{"broken',
    }
    return damaged.has(stream) && revision === 1 ? hurt : record
  }
  const { eventStore, readStore, logger } = engines
  const store: EventStore = {
    ...eventStore,
    readAll: async (...asked) => (await eventStore.readAll(...asked)).map(of),
    readStream: async (...asked) => (await eventStore.readStream(...asked)).map(of),
    subscribe: (after, batch, handle, ...more) =>
      eventStore.subscribe(after, batch, (events, upTo) => handle(events.map(of), upTo), ...more),
  }
  const log = eventLog({ ...engines, eventStore: store, setAside: quarantiner(readStore, logger) })
  return { damaged, own: { ...engines, eventStore: store, log, commands: commands(log) } }
}

const runs = async (n: number) => {
  const stream = taskStream(taskId(n))
  await engines.commands.execute(task, stream, creating(n), cause())
  await engines.commands.execute(task, stream, { type: 'UpdateTask', title: 'before' }, cause())
}

// Holds findings 1.88.
test('recorder M1: a stream is on the list once a write was refused, and inspect shows what is stored', async () => {
  const { damaged, own } = damageable()
  await runs(1)
  const stream = taskStream(taskId(1))
  damaged.add(stream)
  const update = { type: 'UpdateTask', title: 'after' } as const
  await expect(own.commands.execute(task, stream, update, cause())).rejects.toThrow('is not JSON')
  await eventually(
    'it is listed',
    async () => (await listQuarantined(engines.readStore))[0]?.startsWith(stream) === true,
  )
  const { lines } = await inspectQuarantined(engines.readStore, own.eventStore, stream)
  expect(lines.join('\n')).toMatch(/event 1 .* is not JSON[\s\S]*\{"broken/)
  expect(await inspectQuarantined(engines.readStore, own.eventStore, 'task-none')).toMatchObject({
    failed: true,
  })
  expect((await releaseQuarantined(engines.readStore, own, stream)).ok).toBe(false)
  damaged.clear()
  expect((await releaseQuarantined(engines.readStore, own, stream)).ok).toBe(true)
})

// Holds findings 1.87.
test('recorder H7: the documents and viewers of a damaged task know it whatever the read models had, until it is released', async () => {
  const { damaged, own } = damageable()
  await runs(1)
  await runs(2)
  const id = taskId(1)
  const following = projected(engines)
  const told: (readonly string[])[] = []
  const projector = await startProjector(own, undefined, (sentences) => void told.push(sentences))
  await following.waitFor((await engines.eventStore.head()) ?? '0', 20_000)
  const heard: string[] = []
  const viewer: Viewer = {
    send: ([name]) => void heard.push(name),
    knowsWords: true,
    sessionEnded: () => undefined,
  }
  const feed = await startFeed({
    ...own,
    imageAddresses: { addressOf: () => '' },
    words: { hear: () => () => undefined },
  })
  await feed.join(id, viewer, null)
  damaged.add(taskStream(id))
  await expect(own.log.read(taskStream(id), 0, 10)).rejects.toThrow('is not JSON')
  const document = () => engines.documents.get(tasksView, id)
  await eventually('the document says so', async () => (await document())?.unreadable?.revision === 1)
  expect(await document()).toMatchObject({ unreadable: { stream: 'task', reason: 'no_json' } })
  expect(['queued', 'running']).not.toContain((await document())?.status)
  await eventually('viewers read it anew', () => heard.includes('task_resync'))
  expect(told.at(-1)).toEqual(['A damaged stream is set aside. Run: npm start -- quarantine list'])
  expect((await engines.documents.get(tasksView, taskId(2)))?.unreadable).toBeUndefined()
  damaged.clear()
  heard.length = 0
  await releaseQuarantined(engines.readStore, own, taskStream(id))
  await eventually(
    'it is as it was',
    async () => {
      const now = await document().catch(() => undefined)
      return now !== undefined && now.unreadable === undefined
    },
    20_000,
  )
  await eventually('viewers read it anew', () => heard.includes('task_resync'))
  expect(told.at(-1)).toEqual([])
  await feed.stop()
  await projector.stop()
  following.close()
})

test('a damaged terminal is told in the document of its task, which goes on', async () => {
  const { own } = damageable()
  await runs(1)
  const projector = await startProjector(own)
  const record = { stream: terminalStream(taskId(1)), revision: 3, type: 'TerminalOutputRecorded' }
  quarantiner(engines.readStore, engines.logger)(new UnreadableEvent(record, 'no_json'))
  const document = () => engines.documents.get(tasksView, taskId(1))
  await eventually('it says so', async () => (await document())?.unreadable?.stream === 'terminal')
  await own.commands.execute(task, taskStream(taskId(1)), { type: 'UpdateTask', title: 'on' }, cause())
  await eventually('it goes on', async () => (await document())?.title === 'on')
  expect(await document()).toMatchObject({ status: 'queued', unreadable: { revision: 3 } })
  await projector.stop()
})
