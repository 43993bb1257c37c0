/** What a runner does with a job that it is given. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { task } from '#domain/task/task.ts'
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
function workWhile(whereabouts: ReturnType<RunnerPresence['whereabouts']>): Work<TestEngines> {
  const presence: RunnerPresence = {
    running: new Set(),
    whereabouts: () => whereabouts,
    statusOf: () => 'unknown',
    leave: () => undefined,
    stop: () => undefined,
  }
  return openWorker({
    deps: engines,
    runs: openRuns(),
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
