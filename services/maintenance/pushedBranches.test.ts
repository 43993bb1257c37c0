/** Branches of deleted tasks, with a real log and a code host whose answers the test chooses. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DomainEvent } from '#domain/events.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { projectStream, taskStream } from '#domain/kernel/streams.ts'
import { ProjectCreated, ProjectSynced } from '#domain/project/events.ts'
import {
  PullRequestOpened,
  PullRequestRequested,
  TaskCreated,
  TaskDeleted,
  WorkspacePrepared,
} from '#domain/task/events.ts'
import { emptyHead } from '#platform/eventlog/eventLog.ts'
import { CodeHostFault, type HostBranch } from '#platform/ports/codeHost.ts'
import { executionId, projectId, taskId } from '../../tests/domain/ids.ts'
import { cause, eventually, openTestEngines, somebody, type TestEngines } from '../../tests/server/engines.ts'
import { deletePushedBranches } from './pushedBranches.ts'

const ours = 'flightdeck/work-12345678'
const commit = 'c'.repeat(40)
const tree = 'd'.repeat(40)
const other = 'e'.repeat(40)

let engines: TestEngines
/** The branches at the code host, by name. */
let atHost: Map<string, HostBranch>
/** The names of the branches that an open pull request uses. */
let open: Set<string>
let asked: string[]
let faults: Error[]
let token: () => Promise<string>
let runEndTimeoutMs: number
beforeEach(async () => {
  engines = await openTestEngines()
  atHost = new Map([['main', { commit: other, tree: other }]])
  open = new Set()
  asked = []
  faults = []
  token = async () => 'token'
  runEndTimeoutMs = 10_000
})
afterEach(() => engines.close())

const append = (stream: string, events: readonly DomainEvent[]) =>
  engines.log.append(stream, emptyHead, events, cause())

const facts = {
  githubUrl: '',
  githubOwner: 'ada',
  githubRepoName: 'before',
  defaultBranch: 'main',
  language: null,
}

async function deletedTask(
  n: number,
  { branch = ours, pushed = 'opened' }: { branch?: string; pushed?: 'opened' | 'asked' | 'never' } = {},
): Promise<string> {
  const id = taskId(n)
  await append(taskStream(id), [
    TaskCreated.of(
      { taskId: id, ownerId: somebody.userId, projectId: projectId(1), agent: 'claude' },
      { title: 'Work', description: '', branch: 'main', codexModel: null },
    ),
    WorkspacePrepared.of(
      { executionId: executionId(n) },
      { workingBranch: branch, baseBranch: 'main', baseCommit: null },
    ),
    ...(pushed === 'never'
      ? []
      : [
          PullRequestRequested.of(
            { requestId: 'r', draft: false, automatic: false, rewrites: false },
            { title: '', body: '', tree },
          ),
        ]),
    ...(pushed === 'opened'
      ? [PullRequestOpened.of({ requestId: 'r' }, { number: 1, url: '', headCommit: commit })]
      : []),
    TaskDeleted.of({}),
  ])
  return id
}

async function project(): Promise<void> {
  await append(projectStream(projectId(1)), [
    ProjectCreated.of(
      { projectId: projectId(1), ownerId: somebody.userId, isPrivate: false },
      { ...facts, githubRepoId: '1', name: 'engine', description: '' },
    ),
    ProjectSynced.of({ isPrivate: false }, { ...facts, githubRepoName: 'engine' }),
  ])
}

/** Takes the job of the task's request, as a runner does. When `push` is called, the job pushes the branch and ends. */
async function pushingRun(): Promise<{ push(): Promise<void> }> {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  await engines.jobs.put({ id: 'r', kind: 'pull_request', payload: {} })
  const worker = engines.jobs.work('pull_request', { concurrency: 1, leaseMs: 60_000 }, async (delivery) => {
    await promise
    atHost.set(ours, { commit, tree })
    await delivery.ack()
  })
  await eventually('it runs', async () => (await engines.jobs.stateOf('r')) === 'leased')
  return {
    push: () => {
      resolve()
      return worker.stop()
    },
  }
}

/** Deletes the branches that these tasks pushed. Returns the names of the branches that are left at the code host. */
async function branchesAfter(...taskIds: string[]): Promise<string[]> {
  const ask = (what: string) => {
    asked.push(what)
    const fault = faults.shift()
    if (fault) throw fault
  }
  const codeHost = {
    branch: async (_token: string, { owner, name }: { owner: string; name: string }, branch: string) => {
      ask(`${owner}/${name} ${branch}`)
      return atHost.get(branch)
    },
    isInOpenPullRequest: async (_token: string, _at: unknown, branch: string) => open.has(branch),
    deleteBranch: async (_token: string, _at: unknown, branch: string) => {
      ask(`delete ${branch}`)
      atHost.delete(branch)
    },
  }
  const parts = { ...engines, codeHost, access: { tokenOf: () => token() } }
  await deletePushedBranches(parts, taskIds, { pausesMs: [1, 1], runEndTimeoutMs })
  return [...atHost.keys()]
}

describe('finding 10: a branch of a deleted task', () => {
  test('goes when it stands where it was pushed, or at files that were recorded', async () => {
    await project()
    atHost.set(ours, { commit, tree: other }).set('flightdeck-two', { commit: other, tree })
    const tasks = [await deletedTask(1), await deletedTask(2, { branch: 'flightdeck-two', pushed: 'asked' })]
    expect(await branchesAfter(...tasks)).toEqual(['main'])
    expect(asked[0]).toBe(`ada/engine ${ours}`)
  })

  test('stays when others have pushed to it, or a pull request is open', async () => {
    await project()
    atHost.set(ours, { commit: other, tree: other }).set('flightdeck/open', { commit, tree })
    open.add('flightdeck/open')
    const tasks = [await deletedTask(1), await deletedTask(2, { branch: 'flightdeck/open' })]
    expect(await branchesAfter(...tasks)).toEqual(['main', ours, 'flightdeck/open'])
  })

  test('is not asked for when nothing was ever pushed, or it is not ours', async () => {
    await project()
    atHost.set('main', { commit, tree })
    const tasks = [
      await deletedTask(1, { pushed: 'never' }),
      await deletedTask(2, { branch: 'main' }),
      await deletedTask(3, { branch: 'feature' }),
    ]
    expect(await branchesAfter(...tasks)).toEqual(['main'])
    expect(asked).toEqual([])
  })

  test('is left when its project is gone, or the person has no access any more', async () => {
    atHost.set(ours, { commit, tree })
    const id = await deletedTask(1)
    expect(await branchesAfter(id)).toContain(ours)
    expect(asked).toEqual([])
    await project()
    token = async () => {
      throw new Fault('github_not_connected')
    }
    expect(await branchesAfter(id)).toContain(ours)
    expect(asked).toEqual([])
  })

  test('is asked for again while the host is away, and of the next ones only while there are tries', async () => {
    await project()
    atHost.set(ours, { commit, tree })
    const id = await deletedTask(1)
    const away = () => new CodeHostFault('unavailable', 'The code host does not answer.')
    faults = [away()]
    expect(await branchesAfter(id)).toEqual(['main'])
    atHost.set(ours, { commit, tree })
    asked = []
    faults = [away(), away(), away(), away(), away(), away()]
    expect(await branchesAfter(id, await deletedTask(2), await deletedTask(3))).toContain(ours)
    expect(asked).toHaveLength(3)
  })

  // Holds findings 1.34.
  test('goes also when a run is still at pushing it', async () => {
    await project()
    const id = await deletedTask(1)
    const run = await pushingRun()
    const left = branchesAfter(id)
    // Waits until the deletion asks for the state of the run, or has ended without asking.
    const { jobs } = engines
    const hasAsked = vi.spyOn(jobs, 'stateOf')
    await Promise.race([left, eventually('it asks', () => hasAsked.mock.calls.length > 0)])
    await run.push()
    await left
    expect([...atHost.keys()]).toEqual(['main'])
  })

  test('waits for no run that does not end', async () => {
    await project()
    atHost.set(ours, { commit, tree })
    const id = await deletedTask(1)
    const run = await pushingRun()
    runEndTimeoutMs = 1
    expect(await branchesAfter(id)).toEqual(['main'])
    await run.push()
  })

  test('is left when the host refuses, and the others go', async () => {
    await project()
    atHost.set(ours, { commit, tree }).set('flightdeck/two', { commit, tree })
    faults = [new CodeHostFault('forbidden', 'Protected.')]
    const tasks = [await deletedTask(1), await deletedTask(2, { branch: 'flightdeck/two' })]
    expect(await branchesAfter(...tasks)).toEqual(['main', ours])
  })
})
