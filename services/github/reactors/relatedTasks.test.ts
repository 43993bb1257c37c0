/** Tasks that were created from one another name each other, at whatever point a process crashes. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import type { Subscription } from '#platform/ports/eventStore.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { startRelatedTasks } from './relatedTasks.ts'

let engines: TestEngines
let following: Subscription | undefined
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(async () => {
  await following?.stop()
  await engines.close()
})

/** Starts the reactor again, with a clock that is `lateMs` ahead of the events. */
async function follow(lateMs = 0): Promise<void> {
  await following?.stop()
  const clock = { now: () => new Date(Date.now() + lateMs) }
  following = await startRelatedTasks({ ...engines, clock })
}

const create = (n: number, more: Partial<CommandOf<'CreateTask'>> = {}) =>
  engines.commands.execute(task, taskStream(taskId(n)), { ...creating(n), ...more }, cause())
const eventsOf = (n: number) => engines.log.read(taskStream(taskId(n)), 0, 100)
const ofType = async (n: number, type: string) => (await eventsOf(n)).filter((event) => event.type === type)
const noted = (n: number, type: string) =>
  eventually(`${type} in task ${n}`, async () => (await ofType(n, type)).length > 0)

/** Creates task 1 and records a turn that can be forked. */
async function turnEnded(): Promise<void> {
  const { head } = await create(1)
  const turn = [past.started(1), past.delivered(1), past.prepared, past.snapshotTaken(1), past.succeeded(1)]
  await engines.log.append(taskStream(taskId(1)), head, turn, cause())
}
const from: CommandOf<'CreateTask'>['from'] = {
  taskId: taskId(1),
  executionId: executionId(1),
  title: 'A title',
  transcript: '',
  snapshot: { work: 'b'.repeat(40), bundle: { hash: 'c'.repeat(64), size: 1 }, session: null },
}
const comparedTo = { taskId: taskId(1), title: 'A title', baseCommit: null }
const addAlternative = (n: number) =>
  engines.commands.execute(
    task,
    taskStream(taskId(1)),
    { type: 'AddAlternative', taskId: taskId(n), title: 'A title', deleted: [] },
    cause(),
  )

test('a fork whose request died before the other task was told is noted there, once', async () => {
  await turnEnded()
  await create(2, { from, title: 'Another way' })
  await follow()
  await noted(1, 'TaskForked')
  await follow()
  await create(3, { from })
  await eventually('both', async () => (await ofType(1, 'TaskForked')).length === 2)
  expect(await ofType(1, 'TaskForked')).toMatchObject([
    { data: { taskId: taskId(2), executionId: executionId(1) }, content: { title: 'Another way' } },
    { data: { taskId: taskId(3) } },
  ])
})

test('an alternative that the original does not know is noted there, once', async () => {
  await create(1)
  await create(2, { comparedTo })
  await addAlternative(3)
  await create(3, { comparedTo })
  await follow()
  await create(4, { comparedTo })
  await eventually('all', async () => (await ofType(1, 'AlternativeAdded')).length === 3)
  const ids = (await ofType(1, 'AlternativeAdded')).map(({ data }) => Object(data).taskId)
  expect(ids.toSorted()).toEqual([2, 3, 4].map(taskId))
})

test('an alternative whose request died before it was created gives its place back, when no request can create it', async () => {
  await create(1)
  await addAlternative(2)
  await follow()
  await addAlternative(3)
  await create(3, { comparedTo })
  expect(await ofType(1, 'AlternativeRemoved')).toEqual([])
  await follow(61_000)
  await noted(1, 'AlternativeRemoved')
  await create(4, { comparedTo })
  await eventually('the last is noted', async () => (await ofType(1, 'AlternativeAdded')).length === 3)
  expect(await ofType(1, 'AlternativeRemoved')).toMatchObject([{ data: { taskId: taskId(2) } }])
})

test('an alternative whose request gave its place back itself holds up nothing', async () => {
  await create(1)
  await addAlternative(2)
  const stream = taskStream(taskId(1))
  await engines.commands.execute(task, stream, { type: 'RemoveAlternative', taskId: taskId(2) }, cause())
  await create(3, { comparedTo })
  await follow()
  await eventually('the next', async () => (await ofType(1, 'AlternativeAdded')).length === 2)
  expect(await ofType(1, 'AlternativeRemoved')).toHaveLength(1)
})

test('what was created from a task that is gone is passed over', async () => {
  await turnEnded()
  await engines.commands.execute(task, taskStream(taskId(1)), { type: 'DeleteTask' }, cause())
  await create(2, { from })
  await create(3)
  await create(4, { comparedTo: { ...comparedTo, taskId: taskId(3) } })
  await follow()
  await noted(3, 'AlternativeAdded')
  expect(await ofType(1, 'TaskForked')).toEqual([])
})
