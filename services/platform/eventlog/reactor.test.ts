/** Reactors to the log: each handles every event after its mark, and the mark never passes unfinished work. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import type { Subscription } from '#platform/ports/eventStore.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { markName, startReactor, type Reaction } from './reactor.ts'

let engines: TestEngines
let heard: string[]
const running: Subscription[] = []
beforeEach(async () => {
  engines = await openTestEngines()
  heard = []
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
  await engines.close()
})

const create = (n: number) => engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause())
const react = async (over: Partial<Reaction> = {}) => {
  const reactor = await startReactor(engines, {
    marks: ['tested'],
    from: 'beginning',
    filter: { streams: ['task-'], types: ['TaskCreated'] },
    handle: async (events) => void heard.push(...events.map(({ stream }) => stream)),
    ...over,
  })
  running.push(reactor)
  return reactor
}
const streams = (...numbers: readonly number[]) => numbers.map((n) => taskStream(taskId(n)))
const markOf = (mark = 'tested') => engines.jobs.marked(markName(mark, engines.logIdentity))
const stopLast = () => running.pop()?.stop()

test('hears what it filters for, and after a restart only what came since', async () => {
  await create(1)
  await react()
  await eventually('it was heard', () => heard.length === 1)
  await stopLast()
  await create(2)
  await react()
  await eventually('the next was heard', () => heard.length === 2)
  expect(heard).toEqual(streams(1, 2))
})

test('without a mark begins where it is told to, and the next one goes on there even if nothing was done', async () => {
  await create(1)
  await react({ from: 'head', isDone: () => heard.length === 0 })
  await create(2)
  await eventually('it was heard', () => heard.length === 1)
  await stopLast()
  await react({ from: 'head' })
  await eventually('it was heard again', () => heard.length === 2)
  expect(heard).toEqual(streams(2, 2))
})

test('with several marks begins after the earliest, and without any at the head each time', async () => {
  const { position } = await create(1)
  await create(2)
  const later = await create(3)
  const { jobs, logIdentity } = engines
  await jobs.mark(markName('one', logIdentity), position ?? '')
  await jobs.mark(markName('other', logIdentity), later.position ?? '')
  await react({ marks: ['one', 'other'] })
  await eventually('what follows the earliest was heard', () => heard.length === 2)
  await react({ marks: [], from: 'head' })
  await create(4)
  await eventually('both heard the last', () => heard.length === 4)
  expect(heard).toEqual(streams(2, 3, 4, 4))
})

test('notes nothing before it is done, and all once it is', async () => {
  let isDone = false
  await react({ isDone: () => isDone })
  const { position } = await create(1)
  await eventually('it was heard', () => heard.length === 1)
  await new Promise((soon) => setTimeout(soon, 1_100))
  expect(await markOf()).toBeNull()
  isDone = true
  await eventually('it is noted', async () => (await markOf()) !== null)
  expect(Number(await markOf())).toBeGreaterThanOrEqual(Number(position))
})

test('gives the same events again where the handler failed, and marks of another epoch count for nothing', async () => {
  let faults = 1
  await create(1)
  const handle: Reaction['handle'] = async (events) => {
    faults -= 1
    if (faults >= 0) throw new Error('not now')
    heard.push(...events.map(({ stream }) => stream))
  }
  await react({ handle })
  await eventually('it was heard', () => heard.length === 1)
  await stopLast()
  engines = { ...engines, logIdentity: { ...engines.logIdentity, epoch: 2 } }
  await react()
  await eventually('it was heard again', () => heard.length === 2)
  expect(heard).toEqual(streams(1, 1))
})
