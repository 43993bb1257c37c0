/** The product's requests to the local code host as its App: installations, and tokens that reach no further than requested. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { githubApps } from '#platform/codehost/githubApps.ts'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { requestsTo } from '#platform/codehost/request.ts'
import type { CodeHost, HostRepository } from '#platform/ports/codeHost.ts'
import type { AppRegistration, CodeHostApps } from '#platform/ports/codeHostApp.ts'
import { soughtFor, textWithout } from '#platform/redaction/scan.ts'
import {
  commit,
  git,
  gitDone,
  registered,
  signIn,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

describe.each(['short', 'long'] as const)('with tokens of the %s shape, the App', (tokenShape) => {
  let folder: Folder
  let local: LocalCodeHost
  let host: CodeHost
  let apps: CodeHostApps
  let ada: string
  let engine: HostRepository
  let other: HostRepository
  const spent: string[] = []

  beforeAll(async () => {
    folder = await temporaryFolder()
    local = await startLocal(join(folder.path, 'data'), { tokenShape })
    const { url: serverUrl, api: apiUrl } = local
    const requests = requestsTo({
      apiUrl,
      serverUrl,
      paced: false,
      onSpent: ({ holder }) => void spent.push(holder),
    })
    const app: AppRegistration = {
      ...registered,
      appId: String(local.app?.id),
      privateKey: local.app?.privateKey ?? '',
    }
    host = githubCodeHost({ serverUrl, requests, app: async () => app })
    apps = githubApps({ serverUrl, requests, app: async () => app })
    ada = (await signIn(host, 'ada')).accessToken
    const asked = { description: '', isPrivate: true }
    engine = await host.createRepository(ada, { name: 'engine', ...asked })
    other = await host.createRepository(ada, { name: 'other', ...asked })
  })
  afterAll(async () => {
    await local.stop()
    await folder.remove()
  })

  async function installationOf(login: string) {
    const found = (await apps.installations()).find(({ account }) => account.login === login)
    if (!found) throw new Error(`not installed for ${login}`)
    return found
  }

  test('knows what it is, and where it is installed with which permissions', async () => {
    expect(await apps.app()).toMatchObject({ slug: 'flightdeck', permissions: { contents: 'write' } })
    expect(await installationOf('acme')).toMatchObject({
      account: { id: '2001', isOrganization: true },
      permissions: { contents: 'write', pull_requests: 'write' },
      repositories: 'all',
      suspendedAt: null,
    })
    const { installations, count } = await apps.installationsOf(ada)
    expect(installations.map(({ account }) => account.login).toSorted()).toEqual(['acme', 'ada'])
    expect(count).toBe(2)
  })

  test('counts the repositories of an installation, as it and as a person reach them', async () => {
    const { id: installationId } = await installationOf('ada')
    const known = await apps.repositoriesOf(ada, { installationId, ids: true })
    expect(known.ids).toEqual(expect.arrayContaining([engine.id, other.id]))
    expect(known).toMatchObject({ count: known.ids.length, isCut: false })
    expect(await apps.repositoriesOf(ada, { installationId, ids: false })).toEqual({ ...known, ids: [] })
    const token = await apps.installationToken({
      installationId,
      repositoryId: null,
      permissions: { metadata: 'read' },
    })
    expect(await apps.repositoryCount(token)).toBe(known.count)
    const grace = (await signIn(host, 'grace')).accessToken
    await expect(apps.repositoriesOf(grace, { installationId, ids: false })).rejects.toMatchObject({
      kind: 'not_found',
    })
  })

  test('gets a token for one repository that pushes there, and sees no other', async () => {
    const installation = await installationOf('ada')
    const asked = { installationId: installation.id, repositoryId: engine.id }
    const token = await apps.installationToken({ ...asked, permissions: { contents: 'write' } })
    expect(token.length > 400).toBe(tokenShape === 'long')
    expect(token).toMatch(/^ghs_[A-Za-z0-9._-]{36,}$/)
    const access = await host.gitAccess(token, engine)
    const tree = join(folder.path, 'tree')
    await gitDone(folder.path, ['init', '-q', 'tree'])
    await commit(tree, 'main', { 'a.txt': 'a' })
    await gitDone(tree, ['push', '-q', access.url, 'main'], access)
    const elsewhere = await host.gitAccess(token, other)
    expect((await git(tree, ['push', '-q', elsewhere.url, 'main'], elsewhere)).code).not.toBe(0)
    await expect(host.repository(token, other)).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('is told which permission is missing', async () => {
    const installation = await installationOf('ada')
    const asked = { installationId: installation.id, repositoryId: engine.id }
    const token = await apps.installationToken({ ...asked, permissions: { contents: 'read' } })
    const opening = host.openPullRequest(token, engine, {
      head: 'main',
      base: 'main',
      title: 't',
      body: '',
      draft: false,
    })
    await expect(opening).rejects.toMatchObject({
      kind: 'forbidden',
      missing: expect.arrayContaining([['pull_requests', 'write']]),
    })
  })

  test('gets no token for a repository that the installation has not, nor for more than was granted', async () => {
    const installation = await installationOf('acme')
    const permissions = { contents: 'write' } as const
    for (const asked of [
      { installationId: installation.id, repositoryId: engine.id, permissions },
      {
        installationId: installation.id,
        repositoryId: null,
        permissions: { administration: 'admin' } as const,
      },
    ])
      await expect(apps.installationToken(asked)).rejects.toMatchObject({ kind: 'invalid' })
    const unknown = { installationId: '999999', repositoryId: null, permissions }
    await expect(apps.installationToken(unknown)).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('asks once for a token that many need, and counts what each holder spends apart', async () => {
    const { id } = await installationOf('ada')
    const asked = { installationId: id, repositoryId: other.id, permissions: { contents: 'read' } as const }
    spent.length = 0
    const tokens = await Promise.all(Array.from({ length: 20 }, () => apps.installationToken(asked)))
    expect(new Set(tokens).size).toBe(1)
    expect(spent).toHaveLength(1)
    spent.length = 0
    await host.repository(tokens[0] ?? '', other)
    expect(spent).toEqual([`installation:${id}`])
    expect(await apps.rateLimit(tokens[0] ?? '')).toMatchObject({ limit: expect.any(Number) })
    expect(host.allowance(tokens[0] ?? '')).toMatchObject({ remaining: expect.any(Number) })
  })

  test('has a token that redaction hides whole, whatever stands around it', async () => {
    const { id } = await installationOf('ada')
    const token = await apps.installationToken({
      installationId: id,
      repositoryId: engine.id,
      permissions: { contents: 'read' },
    })
    const said = textWithout(soughtFor([]), `remote: https://x-access-token:${token}@host/o/r.git, ${token}.`)
    for (const part of [token, token.slice(-20), token.slice(10, 40)]) expect(said).not.toContain(part)
  })
})
