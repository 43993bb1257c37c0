/** The job of a pull request that is stopped before it is done, with the server's log. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import { PullRequestOpened, PullRequestRequested, type TaskEvent } from '#domain/task/events.ts'
import { task as decider } from '#domain/task/task.ts'
import { UserRegistered } from '#domain/user/events.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { taskId, userId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { stopping, type StopReason } from '../execution/control.ts'
import { Evicted } from '../execution/failure.ts'
import { openLocks } from '../workspace/locks.ts'
import type { PublishingDeps } from './publication.ts'
import { makePullRequest } from './pullRequest.ts'

const job = { taskId: taskId(1), requestId: 'request-2' }
const stream = taskStream(job.taskId)
const asked = (requestId: string) =>
  PullRequestRequested.of(
    { requestId, draft: false, automatic: requestId === job.requestId, rewrites: false },
    { title: past.title, body: '', tree: null },
  )
const history: readonly TaskEvent[] = [
  ...past.running,
  past.prepared,
  past.succeeded(1),
  asked('request-1'),
  PullRequestOpened.of({ requestId: 'request-1' }, { number: 7, url: '', headCommit: 'c'.repeat(40) }),
  asked(job.requestId),
]
let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
  const ada = UserRegistered.of({ userId: userId(1) }, { name: 'Ada', email: null })
  await engines.log.append(userStream(userId(1)), emptyHead, [ada], cause())
  await engines.log.append(stream, emptyHead, history, cause())
})
afterEach(() => engines.close())

/** The request that is open, by the log. */
async function openRequest(): Promise<string | null> {
  const { state } = await engines.commands.load(decider, stream)
  return state.kind === 'task' ? state.pullRequestRequest : null
}

/** Makes the pull request while a run uses the workspace, and stops the job for the reason. */
async function stoppedWhileItWaits(reason: StopReason): Promise<void> {
  const locks = openLocks()
  let release = (): void => undefined
  const run = locks.hold(job.taskId, () => new Promise<void>((resolve) => (release = resolve)))
  const stop = stopping()
  const making = makePullRequest({ ...engines, locks } as unknown as PublishingDeps, job, stop)
  stop.stop(reason)
  await making.finally(() => release())
  await run
}

test.each(['stopping', 'evicted'] as const)(
  'that is %s leaves its request to the next delivery',
  async (reason) => {
    await expect(stoppedWhileItWaits(reason)).rejects.toThrow(Evicted)
    expect(await openRequest()).toBe(job.requestId)
  },
)

test('that a person cancels settles its request as failed', async () => {
  await stoppedWhileItWaits('cancelled')
  expect(await openRequest()).toBeNull()
})

/** What the job needs, with these calls of the code host. */
const depsWith = (codeHost: object, workspaces?: object) =>
  ({
    ...engines,
    locks: openLocks(),
    workspaces: workspaces ?? {
      removingLeftovers: async () => ({ kind: 'ready', workspace: {}, access: {} }),
    },
    codeHost,
  }) as unknown as PublishingDeps

/** The types of the events that the job has recorded, and the reason of a failure. */
async function recorded(): Promise<readonly unknown[]> {
  const events = await engines.log.read(stream, history.length, 100)
  return events.map((event) =>
    event.type === 'PullRequestFailed' ? [event.data.code, event.content?.reason] : event.type,
  )
}

test('that is stopped after the code host has answered settles its request', async () => {
  const stop = stopping()
  const deps = depsWith({
    findPullRequest: async () => undefined,
    async pullRequestStates() {
      stop.stop('stopping')
      return []
    },
  })
  await makePullRequest(deps, job, stop)
  expect(await openRequest()).toBeNull()
})

test('that finds no open pull request calls the known one closed only after a reading that says so', async () => {
  const asked: unknown[] = []
  const deps = depsWith({
    findPullRequest: async (_token: unknown, _at: unknown, request: unknown) => void asked.push(request),
    pullRequestStates: async () => Promise.reject(new CodeHostFault('unavailable', 'Away.')),
  })
  await makePullRequest(deps, job, stopping())
  expect(asked).toMatchObject([{ number: 7 }])
  expect(await recorded()).toEqual([['code_host_unavailable', 'Away.'], 'MessagePosted'])
})

test('that finds no open pull request opens no second one while the host says that the known one is open', async () => {
  const pullRequest = {
    number: 7,
    nodeId: 'PR_7',
    repositoryId: '1',
    state: 'open',
    draft: false,
    headCommit: 'c'.repeat(40),
    updatedAt: '2026-01-31T12:00:00Z',
    mergedAt: null,
    mergedBy: null,
  }
  const deps = depsWith({
    findPullRequest: async () => undefined,
    pullRequestStates: async () => [{ kind: 'read', pullRequest }],
  })
  await makePullRequest(deps, job, stopping())
  expect(await recorded()).toEqual([
    'PullRequestObserved',
    ['code_host_refused', expect.stringContaining('#7 is open')],
    'MessagePosted',
  ])
})

test('that an engine fails in is left to the next delivery, which settles its request', async () => {
  let isAway = true
  const deps = depsWith(
    { findPullRequest: async () => undefined, pullRequestStates: async () => [] },
    {
      async removingLeftovers() {
        if (isAway) throw new EngineUnavailable('the vault')
        return { kind: 'ready', workspace: {}, access: {} }
      },
    },
  )
  await expect(makePullRequest(deps, job, stopping())).rejects.toThrow(EngineUnavailable)
  expect(await openRequest()).toBe(job.requestId)
  expect(await recorded()).toEqual([])
  isAway = false
  await makePullRequest(deps, job, stopping())
  expect(await openRequest()).toBeNull()
})

test('that cannot read the task while it waits for the workspace is left to the next delivery', async () => {
  const { commands } = engines
  let loads = 0
  const load: typeof commands.load = (decider, stream) => {
    loads += 1
    return loads === 1
      ? commands.load(decider, stream)
      : Promise.reject(new EngineUnavailable('the event store'))
  }
  const deps = { ...depsWith({}), commands: { ...commands, load } }
  await expect(makePullRequest(deps, job, stopping())).rejects.toThrow(EngineUnavailable)
  expect(await openRequest()).toBe(job.requestId)
})
