/** The words of an operator about jobs that were set aside. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually, openTestEngines, type TestEngines } from '../tests/server/engines.ts'
import { operationOf, UnknownWords } from './operate.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const operate = (words: readonly string[]) => operationOf(words)?.(engines)

/** A job that a worker set aside. */
async function setAside(id: string, kind: string): Promise<void> {
  const { jobs } = engines
  await jobs.put({ id, kind, payload: { taskId: 'a-task' } })
  const worker = jobs.work(kind, { concurrency: 1, leaseMs: 1_000 }, (delivery) =>
    delivery.reject('It cannot be done.\n    at nowhere'),
  )
  await eventually('it is set aside', async () => (await jobs.rejected(kind, 1)).length === 1)
  await worker.stop()
}

test('lists what was set aside, a line each, and queues one again', async () => {
  expect(await operate(['jobs'])).toEqual(['No job was set aside.'])
  await setAside('one', 'execution')
  await setAside('two', 'pull_request')
  expect(await operate(['jobs'])).toEqual([
    'one  execution  taskId=a-task  It cannot be done.',
    'two  pull_request  taskId=a-task  It cannot be done.',
  ])
  expect(await operate(['jobs', 'requeue', 'one'])).toEqual(['one is queued again.'])
  expect(await operate(['jobs'])).toHaveLength(1)
  expect(await engines.jobs.pending('execution')).toBe(1)
  expect(await operate(['jobs', 'requeue', 'one'])).toEqual(['No job one was set aside.'])
})

test.each([[['start']], [['jobs', 'delete']], [['jobs', 'requeue']], [['jobs', 'requeue', 'one', 'two']]])(
  'refuses words that it does not know: %j',
  (words) => {
    expect(() => operationOf(words)).toThrow(UnknownWords)
  },
)

test('no words are no operation', () => {
  expect(operationOf([])).toBeUndefined()
})
