/** What a runner does with a job that it is given. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { Delivery } from '#platform/ports/jobs.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { executionId, taskId } from '../../../tests/domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import type { RunnerPresence } from './runnerPresence.ts'
import { openRuns, openWorker, type Work } from './worker.ts'

const stream = taskStream(taskId(1))
let engines: TestEngines
let seen: string[]
beforeEach(async () => {
  engines = await openTestEngines()
  seen = []
  await engines.commands.execute(task, stream, creating(1), cause())
})
afterEach(() => engines.close())

/** The work of a runner that shares the queue with others, and knows this about where the job runs. */
function workWhile(
  whereabouts: ReturnType<RunnerPresence['whereabouts']>,
  runs = openRuns(),
  deps = engines,
): Work<TestEngines> {
  const presence: RunnerPresence = {
    running: new Set(),
    whereabouts: () => whereabouts,
    statusOf: () => 'unknown',
    leave: () => undefined,
    stop: () => undefined,
  }
  return openWorker({
    deps,
    runs,
    runnerId: 'me',
    isAlone: false,
    presence,
    forget: async () => undefined,
    onDeletedRunEnded: () => undefined,
  })
}

const delivered = (attempt: number): Delivery => ({
  job: {
    id: executionId(1),
    kind: 'execution',
    payload: { taskId: taskId(1), executionId: executionId(1) },
  },
  attempt,
  working: async () => undefined,
  waits: () => undefined,
  ack: async () => void seen.push('acknowledged'),
  nak: async () => void seen.push('given back'),
  reject: async () => void seen.push('rejected'),
})

describe('a run that was begun, whose job the queue lost and got anew', () => {
  test.each([
    ['running', ['given back']],
    ['unknown', ['given back']],
    ['nowhere', ['run', 'acknowledged']],
  ] as const)('and that is %s', async (whereabouts, expected) => {
    const start = {
      type: 'StartExecution',
      executionId: executionId(1),
      afterAttempt: 0,
      runnerId: 'other',
    } as const
    await engines.commands.execute(task, stream, start, cause())
    await workWhile(whereabouts)(delivered(1), async () => void seen.push('run'))
    expect(seen).toEqual(expected)
  })
})

test('a job that is still being looked at when all runs are stopped is stopped too', async () => {
  const runs = openRuns()
  const working = workWhile('nowhere', runs)(delivered(1), async (_, { stop }) => {
    seen.push(stop.reason() ?? 'runs')
  })
  runs.stopAll('stopping')
  await working
  expect(seen).toEqual(['stopping', 'acknowledged'])
})

test('a job waits while the read models are being built, and its run does not begin', async () => {
  const documents = { ...engines.documents, get: () => Promise.reject(new NotFolded('projects')) }
  const work = workWhile('nowhere', openRuns(), { ...engines, documents })
  await expect(work(delivered(1), async () => void seen.push('run'))).rejects.toThrow(NotFolded)
  expect(seen).toEqual([])
})

describe('a job that fails', () => {
  const failing = async () => {
    throw new RangeError('as the test wants it')
  }

  test('is not rejected for having been passed on to other runners many times', async () => {
    await expect(workWhile('nowhere')(delivered(40), failing)).rejects.toThrow(RangeError)
    expect(seen).toEqual([])
  })

  test('twenty times is rejected, and may fail as often again when it is queued again', async () => {
    const work = workWhile('nowhere')
    for (let round = 0; round < 2; round += 1) {
      for (let failure = 1; failure < 20; failure += 1)
        await expect(work(delivered(failure), failing)).rejects.toThrow(RangeError)
      await work(delivered(20), failing)
    }
    expect(seen).toEqual(['rejected', 'rejected'])
  })

  test('because a part of the server is unavailable is never rejected', async () => {
    const work = workWhile('nowhere')
    const unavailable = async () => {
      throw new EngineUnavailable('MongoDB', new Error('as the test wants it'))
    }
    for (let failure = 1; failure <= 40; failure += 1)
      await expect(work(delivered(failure), unavailable)).rejects.toThrow(EngineUnavailable)
    expect(seen).toEqual([])
  })
})
