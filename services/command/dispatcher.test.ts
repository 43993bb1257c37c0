/** Every request becomes a job, once, wherever a crash falls. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { TaskUpdated, PullRequestRequested } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import type { Job, Jobs } from '#platform/ports/jobs.ts'
import { creating } from '../../tests/domain/creating.ts'
import { executionId, projectId, taskId, userId } from '../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { dispatcherMarks, startDispatcher } from './dispatcher.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

const creatingProject = (n: number) =>
  ({
    type: 'CreateProject',
    projectId: projectId(n),
    ownerId: userId(1),
    githubRepoId: String(n),
    isPrivate: false,
    name: 'engine',
    description: '',
    repository: {
      githubUrl: 'https://code.example/ada/engine',
      githubOwner: 'ada',
      githubRepoName: 'engine',
      defaultBranch: 'main',
      language: null,
    },
  }) as const
const create = (n: number) => engines.commands.execute(task, taskStream(taskId(n)), creating(n), cause())
/** What its request goes back to is told beside what there is to do. */
const origin = { correlationId: expect.stringMatching(/^[0-9a-f-]{36}$/), causationId: expect.any(String) }
const executionOf = (n: number): Job => ({
  id: executionId(n),
  kind: 'execution',
  person: userId(1),
  payload: { taskId: taskId(n), executionId: executionId(n), ...origin },
})

/** Works off what is queued, and gives it in order. */
async function takeJobs(kind: string, count: number): Promise<readonly Job[]> {
  const taken: Job[] = []
  const worker = engines.jobs.work(kind, { concurrency: 1, leaseMs: 5_000 }, async (delivery) => {
    taken.push(delivery.job)
    await delivery.ack()
  })
  await eventually(`${count} jobs of ${kind} are there`, () => taken.length >= count)
  await worker.stop()
  return taken
}

/** Everything up to now has been looked at. */
async function dispatched(stopAfter: { stop(): Promise<void> }, count: number): Promise<void> {
  await eventually('the jobs are queued', async () => (await engines.jobs.pending('execution')) >= count)
  await stopAfter.stop()
}

test('a request for an execution and one for a pull request each become a job that names what to do', async () => {
  const dispatcher = await startDispatcher(engines)
  const { head } = await create(1)
  const wanted = PullRequestRequested.of(
    { requestId: executionId(9), draft: false, automatic: false, rewrites: false },
    { title: 't', body: 'b', tree: null },
  )
  await engines.log.append(taskStream(taskId(1)), head, [wanted], cause())
  expect(await takeJobs('execution', 1)).toEqual([executionOf(1)])
  expect(await takeJobs('pull_request', 1)).toEqual([
    {
      id: executionId(9),
      kind: 'pull_request',
      person: userId(1),
      payload: { taskId: taskId(1), requestId: executionId(9), ...origin },
    },
  ])
  await dispatcher.stop()
})

test('a job goes back to the request that it came of, and to the event that asked for it', async () => {
  const dispatcher = await startDispatcher(engines)
  const correlationId = '00000000-c000-4000-8000-000000000001'
  const stream = taskStream(taskId(1))
  const { events } = await engines.commands.execute(task, stream, creating(1), { ...cause(), correlationId })
  const asked = events.find(({ type }) => type === 'ExecutionRequested')
  const [job] = await takeJobs('execution', 1)
  expect(job?.payload).toMatchObject({ correlationId, causationId: asked?.id })
  await dispatcher.stop()
})

test('jobs come in the order of their requests, whether they were made before the start or after', async () => {
  await create(1)
  await create(2)
  const dispatcher = await startDispatcher(engines)
  await create(3)
  await dispatched(dispatcher, 3)
  expect(await takeJobs('execution', 3)).toEqual([executionOf(1), executionOf(2), executionOf(3)])
})

test('nothing else becomes a job', async () => {
  const { head } = await create(1)
  const many = Array.from({ length: 700 }, (_, n) => TaskUpdated.of({}, { title: `t${n}`, description: '' }))
  await engines.log.append(taskStream(taskId(1)), head, many, cause())
  await create(2)
  const dispatcher = await startDispatcher(engines)
  await dispatched(dispatcher, 2)
  expect(await engines.jobs.pending('execution')).toBe(2)
  expect(await engines.jobs.pending('pull_request')).toBe(0)
})

test('a crash between the job and the checkpoint queues the job once', async () => {
  await create(1)
  const crashing: Jobs = {
    ...engines.jobs,
    mark: () => Promise.reject(new Error('the process dies here')),
  }
  const died = await startDispatcher({ ...engines, jobs: crashing })
  await dispatched(died, 1)
  const restarted = await startDispatcher(engines)
  await create(2)
  await dispatched(restarted, 2)
  expect(await takeJobs('execution', 2)).toEqual([executionOf(1), executionOf(2)])
  expect(await engines.jobs.pending('execution')).toBe(0)
})

test('a job that was done before such a crash is not done again', async () => {
  await create(1)
  const crashing: Jobs = {
    ...engines.jobs,
    mark: () => Promise.reject(new Error('the process dies here')),
  }
  const died = await startDispatcher({ ...engines, jobs: crashing })
  expect(await takeJobs('execution', 1)).toHaveLength(1)
  await died.stop()
  const restarted = await startDispatcher(engines)
  await create(2)
  await dispatched(restarted, 1)
  expect(await takeJobs('execution', 1)).toEqual([executionOf(2)])
})

test('what is deleted becomes a job to erase it, also what was deleted before there were such jobs', async () => {
  const { commands, jobs } = engines
  const erasures: unknown[] = []
  for (const n of [1, 2]) {
    await commands.execute(projectDecider, projectStream(projectId(n)), creatingProject(n), cause())
    const stream = projectStream(projectId(n))
    const { position, events } = await commands.execute(
      projectDecider,
      stream,
      { type: 'DeleteProject' },
      cause(),
    )
    erasures.push({ id: events[0]?.id, kind: 'erasure', payload: { stream, ...origin } })
    // An older version had looked at it, and only destroyed secrets.
    if (n === 1) await jobs.mark(dispatcherMarks(engines.logIdentity).dispatched, position ?? '0')
  }
  const dispatcher = await startDispatcher(engines)
  expect(await takeJobs('erasure', 2)).toEqual(erasures)
  await dispatcher.stop()
})

test('a queue that refuses for a while is asked again until it takes the job', async () => {
  let refusals = 2
  const reluctant: Jobs = {
    ...engines.jobs,
    async put(job) {
      refusals -= 1
      if (refusals >= 0) throw new Error('not now')
      await engines.jobs.put(job)
    },
  }
  const dispatcher = await startDispatcher({ ...engines, jobs: reluctant })
  await create(1)
  await dispatched(dispatcher, 1)
  expect(engines.faults).toHaveLength(2)
})

test('a restart looks only at what came after the last request, and misses nothing', async () => {
  const first = await startDispatcher(engines)
  await create(1)
  await dispatched(first, 1)
  await eventually(
    'the checkpoint is there',
    async () => (await engines.jobs.marked(dispatcherMarks(engines.logIdentity).dispatched)) !== null,
  )
  await create(2)
  const put: string[] = []
  const watched: Jobs = {
    ...engines.jobs,
    async put(job) {
      put.push(job.id)
      await engines.jobs.put(job)
    },
  }
  const second = await startDispatcher({ ...engines, jobs: watched })
  await dispatched(second, 2)
  expect(put).toEqual([executionId(2)])
})

test('of what was asked for before the queue was lost, only what has no end is queued', async () => {
  for (const n of [1, 2]) await create(n)
  const stream = taskStream(taskId(1))
  const started = {
    type: 'StartExecution',
    executionId: executionId(1),
    afterAttempt: 0,
    runnerId: 'r',
  } as const
  await engines.commands.execute(task, stream, started, cause())
  const fence = { executionId: executionId(1), attempt: 1 }
  const outcome = { kind: 'completed', exitCode: 0 } as const
  const ended = {
    type: 'EndExecution',
    fence,
    outcome,
    terminal: null,
    nextExecutionId: executionId(8),
  } as const
  await engines.commands.execute(task, stream, ended, cause())
  const dispatcher = await startDispatcher(engines)
  await create(3)
  await dispatched(dispatcher, 2)
  expect(await takeJobs('execution', 2)).toEqual([executionOf(2), executionOf(3)])
})

test('a mark of before the log was put back from a backup is none: what is open is queued, wherever it lies', async () => {
  const { logIdentity, jobs } = engines
  await create(1)
  const beyond = '1000000'
  for (const mark of Object.values(dispatcherMarks(logIdentity))) await jobs.mark(mark, beyond)
  const restored = { ...engines, logIdentity: { ...logIdentity, epoch: logIdentity.epoch + 1 } }
  const dispatcher = await startDispatcher(restored)
  await create(2)
  expect(await takeJobs('execution', 2)).toEqual([executionOf(1), executionOf(2)])
  await dispatcher.stop()
})
