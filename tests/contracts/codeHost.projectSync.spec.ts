/** Projects follow their repositories on the local code host: through deliveries at the real webhook address, and through polling. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { projectStream } from '#domain/kernel/streams.ts'
import { projectDecider } from '#domain/project/project.ts'
import { projectsView } from '#domain/views/projects.ts'
import { CodeHostFault, type HostRepository } from '#platform/ports/codeHost.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import { archivedReason, factsOf } from '#platform/reads/repositoryReading.ts'
import { startProjectSync } from '../../services/github/projectSync.ts'
import type { ReadingTimes } from '../../services/github/refresh/readings.ts'
import { projectId, userId } from '../domain/ids.ts'
import { cause, type TestEngines } from '../server/engines.ts'
import { appToken, askRest } from './codeHost.apps.fixture.ts'
import { hostWithDeliveries, type HostWithDeliveries } from './codeHost.deliveries.fixture.ts'
import { signIn, type LocalCodeHost } from './codeHost.fixture.ts'

const running: RunningWork[] = []
let host: HostWithDeliveries
let engines: TestEngines
let local: LocalCodeHost
let ada: string
let made: HostRepository

beforeEach(async () => {
  host = await hostWithDeliveries()
  ;({ local, engines } = host)
  ada = (await signIn(local.codeHost, 'ada')).accessToken
  made = await local.codeHost.createRepository(ada, { name: 'engine', description: '', isPrivate: true })
  await projectOf(1, made)
})
afterEach(async () => {
  for (const part of running.splice(0).toReversed()) await part.stop()
  await host.close()
})

/** A project of the n-th person. */
async function projectOf(n: number, repository: HostRepository, owner = n): Promise<void> {
  const command = {
    type: 'CreateProject',
    projectId: projectId(n),
    ownerId: userId(owner),
    githubRepoId: repository.id,
    isPrivate: repository.isPrivate,
    name: 'Engine',
    description: '',
    repository: factsOf(repository),
  } as const
  await engines.commands.execute(projectDecider, projectStream(projectId(n)), command, cause())
}

/** What runners were told. */
const told: unknown[] = []
/** What was read, and the repositories that it was tried for. */
const reads: string[] = []
const attempts: string[] = []
interface Follow extends Partial<ReadingTimes> {
  /** By person. */
  readonly tokenOf?: (ownerId: string) => Promise<string>
  /** What happens before and after a reading, by the repository's number. */
  readonly before?: (id: string) => void
  readonly after?: () => Promise<void>
  readonly onHeard?: () => void
}

async function follow({
  tokenOf = async () => ada,
  before,
  after,
  onHeard,
  ...times
}: Follow = {}): Promise<void> {
  reads.length = 0
  attempts.length = 0
  told.length = 0
  const synced = await startProjectSync(
    {
      ...engines,
      log: {
        open: async (stored) => {
          const event = await engines.log.open(stored)
          onHeard?.()
          return event
        },
      },
      projected: projected(engines),
      rpc: {
        call: async (name, request) => {
          told.push({ name, request })
          return undefined
        },
      },
      codeHost: {
        allowance: () => undefined,
        repository: local.codeHost.repository,
        repositoryById: async (...asked) => {
          attempts.push(asked[1])
          before?.(asked[1])
          const found = await local.codeHost.repositoryById(...asked)
          reads.push(found === 'unchanged' ? found : found.repository.fullName)
          await after?.()
          return found
        },
      },
      access: { tokenOf },
    },
    { firstMs: 3_600_000, pollIntervalMs: 3_600_000, burstPauseMs: 50, minIntervalMs: 50, ...times },
  )
  running.push(synced)
}

const eventually = (holds: () => Promise<void>) => vi.waitFor(holds, { interval: 100 })

const shown = (n = 1) => engines.documents.get(projectsView, projectId(n))
const suspended = async (method: 'PUT' | 'DELETE') =>
  askRest(local.api, [method, '/app/installations/1001/suspended'], { token: await appToken(local) })
const edit = (body: object, at = '/repos/ada/engine') =>
  askRest(local.api, ['PATCH', at], { token: ada, body })

test('a repository that is renamed, made public and archived is shown so; then as it is again', async () => {
  await follow()
  expect((await edit({ name: 'machine', private: false })).status).toBe(200)
  await eventually(async () =>
    expect(await shown()).toMatchObject({
      name: 'Engine',
      githubRepoName: 'machine',
      githubUrl: `${local.url}/ada/machine`,
      isPrivate: false,
      status: 'active',
    }),
  )
  const ofProject = { projectId: projectId(1), ownerId: userId(1) }
  await eventually(async () => expect(told).toContainEqual({ name: 'repositoryChanged', request: ofProject }))
  await edit({ archived: true }, '/repos/ada/machine')
  await eventually(async () =>
    expect(await shown()).toMatchObject({ status: 'inactive', statusReason: archivedReason }),
  )
  await edit({ archived: false }, '/repos/ada/machine')
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'active', statusReason: null }))
})

test('one that is given to an organization goes on under its number, also when another takes the old name', async () => {
  await follow()
  const { githubRepoId } = (await shown()) ?? {}
  const given = await askRest(local.api, ['POST', '/repos/ada/engine/transfer'], {
    token: ada,
    body: { new_owner: 'acme' },
  })
  expect(given.status).toBe(202)
  const other = await local.codeHost.createRepository(ada, {
    name: 'engine',
    description: '',
    isPrivate: false,
  })
  expect(other.id).not.toBe(githubRepoId)
  await eventually(async () =>
    expect(await shown()).toMatchObject({
      githubRepoId,
      githubOwner: 'acme',
      githubRepoName: 'engine',
      githubUrl: `${local.url}/acme/engine`,
      isPrivate: true,
      status: 'active',
    }),
  )
})

test('one that is deleted is gone, also when another takes its name', async () => {
  await follow()
  expect((await askRest(local.api, ['DELETE', '/repos/ada/engine'], { token: ada })).status).toBe(204)
  await local.codeHost.createRepository(ada, { name: 'engine', description: '', isPrivate: false })
  await eventually(async () =>
    expect(await shown()).toMatchObject({
      status: 'inactive',
      statusReason: expect.stringContaining('GitHub has no repository ada/engine'),
      isPrivate: true,
    }),
  )
})

test('one that the App is suspended for is out of reach, and comes back', async () => {
  await follow()
  await suspended('PUT')
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'inactive' }))
  await suspended('DELETE')
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'active' }))
})

test('without deliveries it is looked at now and then; what has not changed costs no answer and is not recorded', async () => {
  await follow({ firstMs: 10, pollIntervalMs: 30 })
  await eventually(async () => expect(reads.filter((read) => read === 'unchanged').length).toBeGreaterThan(1))
  expect(reads.filter((read) => read !== 'unchanged')).toEqual(['ada/engine'])
  // A reading that finds nothing new has no runner fetch the repository.
  expect(told).toHaveLength(1)
  expect((await engines.log.read(projectStream(projectId(1)), 0, 100)).length).toBe(1)
})

test('a host that is away says nothing about the project', async () => {
  const of = /\/repos\/ada\/engine$/
  local.limits.disturb({ status: 502, message: 'Server Error', times: 1_000, of })
  await follow({ firstMs: 10, pollIntervalMs: 20 })
  await eventually(async () => expect(attempts.length).toBeGreaterThan(2))
  expect(reads).toEqual([])
  expect(await shown()).toMatchObject({ status: 'active' })
  expect(await engines.log.read(projectStream(projectId(1)), 0, 100)).toHaveLength(1)
})

test('somebody who was removed from a repository is shown nothing new of it', async () => {
  const grace = (await signIn(local.codeHost, 'grace')).accessToken
  const collaborator = (method: 'PUT' | 'DELETE') =>
    askRest(local.api, [method, '/repos/ada/engine/collaborators/grace'], { token: ada })
  await collaborator('PUT')
  await projectOf(2, await local.codeHost.repository(grace, made))
  await collaborator('DELETE')
  await follow({ tokenOf: async (ownerId) => (ownerId === userId(1) ? ada : grace) })
  await edit({ name: 'secret-name' })
  await eventually(async () => expect(await shown(1)).toMatchObject({ githubRepoName: 'secret-name' }))
  await eventually(async () =>
    expect(await shown(2)).toMatchObject({ status: 'inactive', githubRepoName: 'engine' }),
  )
})

const another = (name: string) =>
  local.codeHost.createRepository(ada, { name, description: '', isPrivate: true })

test('a person at their limit, and a project that cannot be read, hold up no other', async () => {
  await projectOf(2, made)
  await projectOf(3, made)
  await projectOf(4, made, 1)
  await edit({ name: 'machine' })
  const tokenOf = async (ownerId: string) => {
    if (ownerId === userId(1)) throw new CodeHostFault('rate_limited', 'Wait.')
    if (ownerId === userId(2)) throw new Error('cannot be opened')
    return ada
  }
  await follow({ firstMs: 10, tokenOf })
  await eventually(async () => expect(await shown(3)).toMatchObject({ githubRepoName: 'machine' }))
  for (const n of [1, 2, 4])
    expect(await shown(n)).toMatchObject({ status: 'active', githubRepoName: 'engine' })
})

test('a round ends after three repositories in a row that the host is away for, not after one, and the next goes on behind them', async () => {
  const others = [await another('b'), await another('c'), await another('d')]
  for (const [index, one] of others.entries()) await projectOf(index + 2, one)
  let away: readonly string[] = [made.id]
  const before = (id: string) => {
    if (away.includes(id)) throw new CodeHostFault('unavailable', 'Away.')
  }
  await follow({ firstMs: 10, pollIntervalMs: 20, before })
  await eventually(async () => expect(reads).toContain('ada/d'))
  const all = [made, ...others].map(({ id }) => id)
  away = all
  const from = attempts.length
  await eventually(async () => expect(attempts.length).toBeGreaterThan(from + 12))
  const first = attempts.indexOf(made.id, from)
  expect(attempts.slice(first, first + 6)).toEqual([...all, ...all.slice(0, 2)])
})

test('what was hinted at and could not be read is read a little later', async () => {
  let refusals = 0
  const before = () => {
    refusals += 1
    if (refusals < 3) throw new CodeHostFault(refusals === 1 ? 'rate_limited' : 'unavailable', 'Later.')
  }
  await follow({ before })
  await edit({ name: 'machine' })
  await eventually(async () => expect(await shown()).toMatchObject({ githubRepoName: 'machine' }))
})

test('an installation that changes while all are read leads to one more reading', async () => {
  let heard = false
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  await follow({ firstMs: 10, burstPauseMs: 300, after: () => opened, onHeard: () => void (heard = true) })
  await eventually(async () => expect(reads).toHaveLength(1))
  await suspended('PUT')
  await eventually(async () => expect(heard).toBe(true))
  open()
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'inactive' }))
})

test('however often installations change, all are read at most once in a while', async () => {
  let heard = 0
  await follow({ firstMs: 10, minIntervalMs: 3_600_000, onHeard: () => void (heard += 1) })
  await eventually(async () => expect(reads).toHaveLength(1))
  for (const method of ['PUT', 'DELETE', 'PUT', 'DELETE'] as const) await suspended(method)
  await eventually(async () => expect(heard).toBe(4))
  // What they would lead to is due before this.
  await edit({ name: 'machine' })
  await eventually(async () => expect(await shown()).toMatchObject({ githubRepoName: 'machine' }))
  expect(reads).toEqual(['ada/engine', 'ada/machine'])
})
