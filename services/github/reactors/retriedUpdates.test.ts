/** Updates that failed while their owner was not connected are repeated once the owner is connected again. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import {
  PullRequestAutoUpdateChanged,
  PullRequestFailed,
  PullRequestOpened,
  PullRequestRequested,
} from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { user } from '#domain/user/user.ts'
import { tasksView } from '#domain/views/tasks.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { creating } from '../../../tests/domain/creating.ts'
import { taskId, userId } from '../../../tests/domain/ids.ts'
import * as past from '../../../tests/domain/taskHistories.ts'
import { cause, eventually, openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { startRetriedUpdates } from './retriedUpdates.ts'
import { foldView } from '../../../tests/domain/fold.ts'

const owner = userId(1)
const profile = { githubId: '1001', login: 'ada', name: null, email: null, avatar: 'a.png' }
const sessionId = randomUUID()
const account = { id: '1001', login: 'ada', name: null, email: null, avatarUrl: 'a.png', publicRepos: 0 }

let engines: TestEngines
/** How often the owner's token was requested. */
let asked: number
/** The faults that the next requests for the token throw, one each. */
let refusals: Error[]
let running: RunningWork | undefined

beforeEach(async () => {
  engines = await openTestEngines()
  asked = 0
  refusals = []
  const session = {
    sessionId,
    startsAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2100-01-01T00:00:00.000Z',
    client: null,
  }
  const signIn = { type: 'SignInWithGitHub', userId: owner, profile, ...session } as const
  await engines.commands.execute(user, userStream(owner), signIn, cause())
})
afterEach(async () => {
  await running?.stop()
  await engines.close()
})

async function start(
  times = { burstPauseMs: 1, minIntervalMs: 20 },
  commands: Pick<Commands, 'execute'> = engines.commands,
): Promise<void> {
  const tokenOf = async () => {
    asked += 1
    const refusal = refusals.shift()
    if (refusal) throw refusal
    return 'a token'
  }
  running = await startRetriedUpdates(
    {
      ...engines,
      commands,
      projected: { waitFor: async () => true },
      access: { tokenOf },
      codeHost: { account: async () => account },
    },
    times,
  )
}

const connect = (hasNewTokens = true) =>
  engines.commands.execute(
    user,
    userStream(owner),
    { type: 'ConnectGitHub', profile, sessionId, hasNewTokens },
    cause(),
  )

/** Creates task `n`, whose update failed because its owner was not connected to the code host. */
async function lost(n: number): Promise<void> {
  const stream = taskStream(taskId(n))
  const request = { requestId: 'request-1', draft: false, automatic: true, rewrites: false }
  const headCommit = 'c'.repeat(40)
  const { head } = await engines.commands.execute(task, stream, creating(n), cause())
  const history = [
    past.started(1),
    past.delivered(1),
    past.prepared,
    past.changed(2),
    past.succeeded(1),
    PullRequestOpened.of(
      { requestId: 'request-0' },
      { number: 7, url: 'https://code.example/acme/hello/pull/7', headCommit },
    ),
    PullRequestAutoUpdateChanged.of({ on: true }),
    PullRequestRequested.of(request, {
      title: past.title,
      body: past.description,
      tree: past.changedTree,
    }),
    PullRequestFailed.of({ requestId: 'request-1', code: 'github_not_connected' }, { reason: 'Lost.' }),
  ]
  await engines.log.append(stream, head, history, cause())
  const events = await engines.log.read(stream, 0, 1_000)
  const document = foldView(tasksView, new Map(), events).get(taskId(n))
  const position = events.at(-1)?.position
  if (document === undefined || position === undefined) throw new Error('There is no such task')
  const { collection } = tasksView
  await engines.readStore.apply([{ kind: 'put', collection, document: { ...document }, position }], {
    projection: 'main',
    position,
  })
}
const requestsOf = async (n: number) =>
  (await engines.log.read(taskStream(taskId(n)), 0, 1_000)).filter(
    ({ type }) => type === 'PullRequestRequested',
  ).length
/** How often the update of each task was requested: twice if it was retried. */
const requests = (...tasks: readonly number[]) => Promise.all(tasks.map(requestsOf))

/** The engines' commands, of which the first `times` on task `n` fail. */
function failing(n: number, fault: Error, times: number): Pick<Commands, 'execute'> {
  let left = times
  return {
    execute: async (decider, stream, ...rest) => {
      if (stream === taskStream(taskId(n)) && left > 0) {
        left -= 1
        throw fault
      }
      return engines.commands.execute(decider, stream, ...rest)
    },
  }
}

test('are tried once more after new tokens, also where nobody knew that the connection was lost', async () => {
  await lost(1)
  await start()
  await connect()
  await expect.poll(() => requests(1)).toEqual([2])
})

test.each([
  ['are not there yet', new Fault('github_not_connected')],
  ['are not known to the code host yet', new CodeHostFault('unauthorized', 'Bad credentials')],
])('are looked at again where the new tokens %s, and no more than once', async (_, refusal) => {
  await lost(1)
  await start({ burstPauseMs: 50, minIntervalMs: 1 })
  refusals = [refusal]
  await connect()
  await expect.poll(() => requests(1)).toEqual([2])
  expect(asked).toBe(2)

  await lost(2)
  refusals = [refusal, refusal, refusal, refusal]
  await connect()
  await eventually('the host was asked twice', () => asked === 4)
  // A second connection is handled like the first.
  await connect()
  await eventually('the host was asked twice more', () => asked === 6)
  expect(await requests(2)).toEqual([1])
  await lost(3)
  await connect()
  await expect.poll(() => requests(2, 3)).toEqual([2, 2])
  expect(asked).toBe(7)
})

test.each([
  ['for good', new Error('A defect.'), Number.POSITIVE_INFINITY, [2, 1, 2]],
  ['for now', new EngineUnavailable('The event store'), 1, [2, 2, 2]],
  ['against others', new Fault('conflict'), 1, [2, 2, 2]],
])('of other tasks are tried also where one fails %s', async (_, fault, times, tried) => {
  for (const n of [1, 2, 3]) await lost(n)
  await start({ burstPauseMs: 1, minIntervalMs: 20 }, failing(2, fault, times))
  await connect()
  await expect.poll(() => requests(1, 2, 3)).toEqual(tried)
})
