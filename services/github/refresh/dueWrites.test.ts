/** Pending texts are written in rounds: at the start, after the events that cause them, and again from time to time. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { taskId } from '../../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { restingOwners, startWriting, type Writing } from './dueWrites.ts'

let engines: TestEngines
let rounds: number
let logged: string[]
let running: RunningWork | undefined
beforeEach(async () => {
  engines = await openTestEngines()
  rounds = 0
  logged = []
})
afterEach(async () => {
  await running?.stop()
  await engines.close()
})

async function start(over: Partial<Writing> = {}): Promise<void> {
  const error = (...said: readonly unknown[]) => void logged.push(String(said[1]))
  running = await startWriting(
    { ...engines, projected: { waitFor: async () => true }, logger: { warn: error, error } },
    {
      filter: { streams: ['task-'], types: ['TaskCreated'] },
      intervalMs: 3_600_000,
      round: async () => void (rounds += 1),
      failed: 'failed',
      ...over,
    },
  )
}
const create = (n: number) => engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause())

test('a round takes place at the start, and after each event that is waited for', async () => {
  await start()
  await expect.poll(() => rounds).toBe(1)
  await create(1)
  await expect.poll(() => rounds).toBe(2)
})

test('a round that failed is logged and followed by the next, unless an engine was away', async () => {
  const faults = [new Error('wrong'), new EngineUnavailable('The log')]
  await start({
    intervalMs: 1,
    round: async () => {
      rounds += 1
      const fault = faults.shift()
      if (fault) throw fault
    },
  })
  await eventually('it goes on', () => rounds >= 3)
  expect(logged).toEqual(['failed'])
})

test('stopping tells the round that is under way, and waits for it', async () => {
  const seen: boolean[] = []
  await start({
    async round(isStopped) {
      rounds += 1
      while (!isStopped()) await new Promise((soon) => setTimeout(soon, 1))
      seen.push(isStopped())
    },
  })
  await eventually('a round is under way', () => rounds === 1)
  await running?.stop()
  expect(seen).toEqual([true])
})

test('owners rest as long as the code host says', () => {
  const resting = restingOwners()
  resting.add('ada', 60_000)
  resting.add('grace', -1)
  expect(['ada', 'grace', 'alan'].map((id) => resting.has(id))).toEqual([true, false, false])
})
