/** Projects follow their repositories on the local code host: by deliveries through the real address, and by looking now and then. */
import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import Koa from 'koa'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { projectStream } from '#domain/kernel/streams.ts'
import { project } from '#domain/project/project.ts'
import { projectsView } from '#domain/views/projects.ts'
import { webhookPath } from '#domain/api/server.ts'
import { answers } from '#platform/http/answers.ts'
import type { HostRepository } from '#platform/ports/codeHost.ts'
import type { Held } from '#platform/ports/leases.ts'
import { projected } from '#platform/reads/projected.ts'
import { archivedReason, factsOf } from '../../services/command/projectSync/reading.ts'
import { startProjectSync, type ProjectSyncTimes } from '../../services/command/projectSync/projectSync.ts'
import { githubWebhooks } from '../../services/gateway/webhooks/githubWebhooks.ts'
import { startProjector } from '../../services/query/projection/projector.ts'
import { projectId, userId } from '../domain/ids.ts'
import { cause, openTestEngines, type TestEngines } from '../server/engines.ts'
import { appToken, askRest } from './codeHost.apps.fixture.ts'
import { signIn, startLocal, temporaryFolder, type Folder, type LocalCodeHost } from './codeHost.fixture.ts'

const secret = 'the secret of the hook'
const running: Held[] = []
let folder: Folder
let engines: TestEngines
let http: Server
let local: LocalCodeHost
let ada: string
let made: HostRepository

beforeEach(async () => {
  folder = await temporaryFolder()
  engines = await openTestEngines()
  running.push(await startProjector(engines))
  const app = new Koa()
  app.silent = true
  app.use(answers(engines.logger, randomUUID))
  app.use(githubWebhooks(async () => [secret], engines))
  http = createServer(app.callback())
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  const at = http.address()
  const url = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}${webhookPath}`
  local = await startLocal(join(folder.path, 'data'), { hook: { url, secret } })
  ada = (await signIn(local.codeHost, 'ada')).accessToken
  made = await local.codeHost.createRepository(ada, { name: 'engine', description: '', isPrivate: true })
  const command = {
    type: 'CreateProject',
    projectId: projectId(1),
    ownerId: userId(1),
    githubRepoId: made.id,
    isPrivate: made.isPrivate,
    name: 'Engine',
    description: '',
    repository: factsOf(made),
  } as const
  await engines.commands.execute(project, projectStream(projectId(1)), command, cause())
})
afterEach(async () => {
  for (const part of running.splice(0).toReversed()) await part.stop()
  await local.stop()
  await new Promise((closed) => {
    http.close(closed)
    http.closeAllConnections()
  })
  await engines.close()
  await folder.remove()
})

/** What was read, and how often it was tried. */
const reads: string[] = []
let attempts = 0

async function follow(times: Partial<ProjectSyncTimes> = {}): Promise<void> {
  reads.length = 0
  attempts = 0
  const synced = await startProjectSync(
    {
      ...engines,
      projected: projected(engines),
      codeHost: {
        repository: local.codeHost.repository,
        repositoryById: async (...asked) => {
          attempts += 1
          const found = await local.codeHost.repositoryById(...asked)
          reads.push(found === 'unchanged' ? found : found.repository.fullName)
          return found
        },
      },
      tokenFor: async () => ({ holder: 'ada', token: async () => ada }),
    },
    { firstMs: 3_600_000, allMs: 3_600_000, restMs: 50, ...times },
  )
  running.push(synced)
}

const eventually = (holds: () => Promise<void>) => vi.waitFor(holds, { timeout: 15_000, interval: 50 })

const shown = () => engines.documents.get(projectsView, projectId(1))
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
  await edit({ archived: true }, '/repos/ada/machine')
  await eventually(async () =>
    expect(await shown()).toMatchObject({ status: 'inactive', statusReason: archivedReason }),
  )
  await edit({ archived: false }, '/repos/ada/machine')
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'active', statusReason: null }))
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
  const suspended = async (method: 'PUT' | 'DELETE') =>
    askRest(local.api, [method, '/app/installations/1001/suspended'], { token: await appToken(local) })
  await suspended('PUT')
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'inactive' }))
  await suspended('DELETE')
  await eventually(async () => expect(await shown()).toMatchObject({ status: 'active' }))
})

test('without deliveries it is looked at now and then; what has not changed costs no answer and is not recorded', async () => {
  await follow({ firstMs: 10, allMs: 30 })
  await eventually(async () => expect(reads.filter((read) => read === 'unchanged').length).toBeGreaterThan(1))
  expect(reads.filter((read) => read !== 'unchanged')).toEqual(['ada/engine'])
  expect((await engines.log.read(projectStream(projectId(1)), 0, 100)).length).toBe(1)
})

test('a host that is away says nothing about the project', async () => {
  const of = /\/repos\/ada\/engine$/
  local.limits.disturb({ status: 502, message: 'Server Error', times: 1_000, of })
  await follow({ firstMs: 10, allMs: 20 })
  await eventually(async () => expect(attempts).toBeGreaterThan(2))
  expect(reads).toEqual([])
  expect(await shown()).toMatchObject({ status: 'active' })
  expect(await engines.log.read(projectStream(projectId(1)), 0, 100)).toHaveLength(1)
})
