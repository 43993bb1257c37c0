/** No request waits for ever, whatever happens to the queue. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { taskStream } from '#domain/kernel/streams.ts'
import { PullRequestRequested, WorkspaceChanged, WorkspacePrepared } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Job } from '#platform/ports/jobs.ts'
import { creating } from '../../tests/domain/creating.ts'
import { executionId, taskId, userId } from '../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { sweepErasures } from './erasure.ts'
import { dispatcherMarks } from '../command/dispatcher.ts'
import { openWorkOf } from '#platform/commands/requestedJobs.ts'
import { hearSilence, startOpenWorkSweep, sweepOpenWork } from './openWork.ts'
import { foldView } from '../../tests/domain/fold.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const stream = taskStream(taskId(1))
const stateOf = async (n = 1) => (await engines.commands.load(task, taskStream(taskId(n)))).state
const create = (n: number) => engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause())
const start = () =>
  engines.commands.execute(
    task,
    stream,
    { type: 'StartExecution', executionId: executionId(1), afterAttempt: 0, runnerId: 'r' },
    cause(),
  )

/** Writes the documents of both tasks into the read models. */
async function projected(): Promise<void> {
  for (const id of [taskId(1), taskId(2)]) {
    const events = await engines.log.read(taskStream(id), 0, 1_000)
    const document = foldView(tasksView, new Map(), events).get(id)
    const position = events.at(-1)?.position
    if (document === undefined || position === undefined) continue
    const { collection } = tasksView
    await engines.readStore.apply([{ kind: 'put', collection, document: { ...document }, position }], {
      projection: 'main',
      position,
    })
  }
}

/** Takes one job of this kind from the queue, and acknowledges or rejects it. */
async function taken(kind: string, how: 'ack' | 'reject'): Promise<void> {
  let over = false
  const worker = engines.jobs.work(kind, { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
    if (how === 'ack') await delivery.ack()
    else await delivery.reject(new Error('It failed ten times.'))
    over = true
  })
  await eventually('the job is over', () => over)
  await worker.stop()
}

describe('an execution without an end', () => {
  test('that the queue has not is queued again, whether it had begun or not', async () => {
    await create(1)
    await create(2)
    await start()
    await projected()
    await sweepOpenWork(engines)
    await sweepOpenWork(engines)
    expect(await engines.jobs.pending('execution')).toBe(2)
    expect(await engines.jobs.stateOf(executionId(2))).toBe('queued')
    expect(await stateOf()).toMatchObject({ phase: { status: 'running' } })
  })

  test('that the queue has is left to it', async () => {
    await create(1)
    await projected()
    const payload = { taskId: taskId(1), executionId: executionId(1), correlationId: 'c' }
    await engines.jobs.put({ id: executionId(1), kind: 'execution', person: userId(1), payload })
    await sweepOpenWork(engines)
    expect(await engines.jobs.pending('execution')).toBe(1)
    expect(await stateOf()).toMatchObject({ phase: { status: 'queued' } })
  })

  test.each(['queued', 'leased'] as const)(
    'that is %s in a queue which lost it is put again',
    async (state) => {
      await create(1)
      await projected()
      const put: Job[] = []
      const jobs = { stateOf: async () => state, put: async (job: Job) => void put.push(job) }
      await sweepOpenWork({ ...engines, jobs })
      const payload = { taskId: taskId(1), executionId: executionId(1) }
      expect(put).toEqual([{ id: executionId(1), kind: 'execution', person: userId(1), payload }])
    },
  )

  test.each([
    ['never began', 'reject'],
    ['never began', 'ack'],
    ['began', 'reject'],
    ['began', 'ack'],
  ] as const)(
    'that %s and that the queue gave up (%s) is ended, and the task can be tried again',
    async (begun, how) => {
      await create(1)
      if (begun === 'began') await start()
      await projected()
      await sweepOpenWork(engines)
      await taken('execution', how)
      await sweepOpenWork(engines)
      expect(await stateOf()).toMatchObject({ phase: { status: 'failed' } })
      const events = await engines.log.read(stream, 0, 100)
      expect(events.findLast(({ type }) => type === 'ExecutionFailed')).toMatchObject({
        data: { code: 'runner_lost', executionId: executionId(1) },
        content: { reason: 'This failed too many times and was stopped. Try again.' },
      })
      await sweepOpenWork(engines)
      expect(await engines.log.read(stream, 0, 100)).toHaveLength(events.length)
    },
  )

  describe('whose job the queue has while no runner is heard', () => {
    let now = 0
    const sweeps = async (
      count: number,
      silence: ReturnType<typeof hearSilence>,
      { own = engines, everyMs = 60_000 }: { own?: TestEngines; everyMs?: number } = {},
    ) => {
      for (let n = 0; n < count; n += 1) await sweepOpenWork(own, undefined, silence, (now += everyMs))
    }
    const beats = () => engines.bus.publish('runner', { runnerId: 'r', notices: [], agents: [], jobs: [] })
    let silence: ReturnType<typeof hearSilence>
    beforeEach(async () => {
      await create(1)
      silence = hearSilence(engines.bus)
    })
    afterEach(() => silence.stop())

    test('is ended after minutes if it had begun, and its runner can report nothing more', async () => {
      await start()
      await projected()
      // The first sweep finds no job, so it does not count.
      await sweeps(4, silence)
      expect(await stateOf()).toMatchObject({ phase: { status: 'running' } })
      await sweeps(1, silence)
      expect(await stateOf()).toMatchObject({ phase: { status: 'failed' } })
      const events = await engines.log.read(stream, 0, 100)
      expect(events.findLast(({ type }) => type === 'ExecutionFailed')).toMatchObject({
        data: { code: 'runner_lost', executionId: executionId(1) },
        content: {
          reason: 'The runner of this run is gone, and no other runner is connected. Try again.',
        },
      })
      const fence = { executionId: executionId(1), attempt: 1 }
      const report = { type: 'RecordProgress', fence, progress: [] } as const
      await expect(engines.commands.execute(task, stream, report, cause())).rejects.toMatchObject({
        code: 'evicted',
      })
    })

    test('is left alone when the sweeps follow each other within seconds', async () => {
      await start()
      await projected()
      await sweeps(1, silence)
      await sweeps(40, silence, { everyMs: 1_000 })
      expect(await stateOf()).toMatchObject({ phase: { status: 'running' } })
    })

    test('is left alone while it waits for a runner', async () => {
      await projected()
      await sweeps(20, silence)
      expect(await stateOf()).toMatchObject({ phase: { status: 'queued' } })
    })

    test('is left alone when a runner was heard in between, or the queue did not answer', async () => {
      await start()
      await projected()
      await sweeps(4, silence)
      beats()
      await eventually('the runner is heard', () => silence.sweeps.size === 0)
      await sweeps(3, silence)
      const jobs = { ...engines.jobs, stateOf: () => Promise.reject(new Error('away')) }
      await sweeps(20, silence, { own: { ...engines, jobs } })
      expect(await stateOf()).toMatchObject({ phase: { status: 'running' } })
    })
  })

  test('of one task that cannot be read holds up no other', async () => {
    await create(1)
    await create(2)
    await projected()
    const commands: typeof engines.commands = {
      ...engines.commands,
      load: (decider, of) =>
        of === stream ? Promise.reject(new Error('damaged')) : engines.commands.load(decider, of),
    }
    await sweepOpenWork({ ...engines, commands })
    expect(await engines.jobs.stateOf(executionId(2))).toBe('queued')
    expect(await engines.jobs.stateOf(executionId(1))).toBeUndefined()
  })

  test('is found at start', async () => {
    await create(1)
    await projected()
    const sweep = startOpenWorkSweep(engines)
    await eventually('it is queued', async () => (await engines.jobs.pending('execution')) === 1)
    await sweep.stop()
    expect(await engines.jobs.stateOf(executionId(1))).toBe('queued')
  })
})

test('a pull request without an outcome is queued again, and fails when the queue gave it up', async () => {
  const { head } = await create(1)
  const requestId = '00000000-8000-4000-8000-000000000001'
  const changes = { files: 1, additions: 1, deletions: 0, ahead: 1, behind: 0, truncated: false, blob: null }
  await engines.log.append(
    stream,
    head,
    [
      WorkspacePrepared.of(
        { executionId: executionId(1) },
        { workingBranch: 'w', baseBranch: 'main', baseCommit: null },
      ),
      WorkspaceChanged.of(
        { executionId: executionId(1), ...changes },
        { currentBranch: 'w', baseBranch: 'main', tree: null },
      ),
      PullRequestRequested.of(
        { requestId, draft: false, automatic: false, rewrites: false },
        { title: 't', body: 'b', tree: null },
      ),
    ],
    cause(),
  )
  expect(openWorkOf(await stateOf()).map(({ id }) => id)).toEqual([executionId(1), requestId])
  await projected()
  await sweepOpenWork(engines)
  expect(await engines.jobs.stateOf(requestId)).toBe('queued')
  await taken('pull_request', 'reject')
  await sweepOpenWork(engines)
  expect(openWorkOf(await stateOf()).map(({ id }) => id)).toEqual([executionId(1)])
})

test('what was deleted is queued to be erased, once for each queue, also where the dispatcher has been past it', async () => {
  await create(1)
  await engines.commands.execute(task, stream, { type: 'DeleteTask' }, cause())
  const position = (await engines.eventStore.head()) ?? ''
  for (const mark of Object.values(dispatcherMarks(engines.logIdentity)))
    await engines.jobs.mark(mark, position)
  let reads = 0
  const readAll: EventStore['readAll'] = (...asked) => {
    reads += 1
    return engines.eventStore.readAll(...asked)
  }
  const counted = { ...engines, eventStore: { ...engines.eventStore, readAll } }
  const sweep = startOpenWorkSweep(counted)
  await eventually('it is queued', async () => (await engines.jobs.pending('erasure')) === 1)
  await sweep.stop()
  await taken('erasure', 'ack')
  expect(reads).toBe(1)
  await sweepErasures(counted)
  expect(reads).toBe(1)
  expect(await engines.jobs.pending('erasure')).toBe(0)
})
