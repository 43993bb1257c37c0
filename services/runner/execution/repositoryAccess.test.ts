/** Fetching and pushing for a person when the code host refuses, does not answer, or has given the repository to somebody else. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { NoToken } from '#platform/credentials/installations.ts'
import type { Installation } from '#platform/ports/codeHostApp.ts'
import { CodeHostFault, type HostRepository } from '#platform/ports/codeHost.ts'
import { startGitServer, type TestGitServer } from '../../../tests/runner/gitServer.ts'
import { makeScene, testGit, type Scene, unexpected } from '../../../tests/runner/workspaceScene.ts'
import { commitOf } from '../workspace/git/git.ts'
import { openMirrors, type Mirrors } from '../workspace/git/mirror.ts'
import { forPush, mirrored, refreshReached, type RepositoryAccess } from './repositoryAccess.ts'

const authorization = `basic ${Buffer.from('x-access-token:ghs_secret').toString('base64')}`
const repository = { owner: 'ada', name: 'sample' }
const shown: HostRepository = {
  ...repository,
  id: '7',
  fullName: 'ada/sample',
  description: null,
  isPrivate: true,
  htmlUrl: '',
  defaultBranch: 'main',
  language: null,
  createdAt: null,
  isArchived: false,
  mayPush: true,
}

let scene: Scene
let server: TestGitServer
let mirrors: Mirrors
beforeEach(async () => {
  scene = await makeScene({ 'README.md': '# Sample\n' })
  server = await startGitServer(scene.root, authorization)
  mirrors = openMirrors({ root: join(scene.root, 'mirrors'), git: testGit, onFault: unexpected })
})
afterEach(async () => {
  await server.stop()
  await scene.remove()
})

/** As reached with a token of the installation, or with the person's own. */
function reached(gitToken = 'ghs_secret', id = '7'): RepositoryAccess {
  return {
    repository,
    access: { accessToken: 'ghu_own', gitToken, url: `${server.url}/remote.git`, authorization },
    installed: { id, owner: 'ada', installation: undefined },
  }
}

/** `byId`: what the App's own token is told of it. */
const answering = (
  repository: () => Promise<HostRepository>,
  byId: () => Promise<{ repository: HostRepository; etag: null }> = async () => ({
    repository: shown,
    etag: null,
  }),
) => ({
  mirrors,
  codeHost: {
    repository,
    repositoryById: byId,
    recordGitRateLimit: (token: string) => new CodeHostFault('rate_limited', `${token} has to wait.`),
  },
})
const refuses = (kind: CodeHostFault['kind']) =>
  answering(() => Promise.reject(new CodeHostFault(kind, `It says ${kind}.`)))

/** The mirror as it was, and a commit at the host since. */
async function behind() {
  const before = await refreshReached(
    answering(async () => shown),
    reached(),
    {},
  )
  if (before.kind !== 'ready') throw new Error(before.reason)
  return { dir: before.mirror.dir, commit: await scene.commit({ 'secret.txt': 'new\n' }) }
}

describe('what the installation may fetch', () => {
  test.each([
    ['forbidden', { kind: 'failed', code: 'no_repository_access', reason: 'It says forbidden.' }],
    ['not_found', { kind: 'failed', code: 'no_repository_access' }],
    ['unauthorized', { kind: 'failed', code: 'github_not_connected' }],
  ] as const)('is not fetched for a person to whom the host says %s', async (kind, outcome) => {
    const { dir, commit } = await behind()
    expect(await refreshReached(refuses(kind), reached(), {})).toMatchObject(outcome)
    expect(await commitOf(testGit, dir, commit)).toBeNull()
  })

  test.each(['unavailable', 'rate_limited'] as const)(
    'is not fetched while the host does not say whether the person may have it: %s',
    async (kind) => {
      const { dir, commit } = await behind()
      await expect(refreshReached(refuses(kind), reached(), {})).rejects.toMatchObject({ kind })
      expect(await commitOf(testGit, dir, commit)).toBeNull()
    },
  )

  test('is not cloned either', async () => {
    const refused = await refreshReached(refuses('forbidden'), reached(), {})
    expect(refused).toMatchObject({ kind: 'failed' })
    expect(await mirrors.find(mirrored(reached()))).toBeUndefined()
  })

  test('holds nothing of a repository that was deleted and made again under its name', async () => {
    const gone = await behind()
    const again = answering(async () => ({ ...shown, id: '8' }))
    const made = await refreshReached(again, reached('ghs_secret', '8'), {})
    if (made.kind !== 'ready') throw new Error(made.reason)
    expect(made.mirror.dir).not.toBe(gone.dir)
    expect(await commitOf(testGit, made.mirror.dir, gone.commit)).toBe(gone.commit)
    expect(await commitOf(testGit, gone.dir, gone.commit)).toBeNull()
  })

  test('is fetched once the host has shown them the repository', async () => {
    const { dir, commit } = await behind()
    const fresh = await refreshReached(
      answering(async () => shown),
      reached(),
      {},
    )
    expect(fresh).toMatchObject({ kind: 'ready', mayPush: true })
    expect(await commitOf(testGit, dir, commit)).toBe(commit)
  })
})

describe('a host on a bad day', () => {
  const fetched = (of: RepositoryAccess) =>
    refreshReached(
      answering(async () => shown),
      of,
      {},
    )
  const withFresh = (authorized: string | undefined): RepositoryAccess => {
    const { access, ...others } = reached()
    const fresh = authorized === undefined ? undefined : { ...access, authorization: authorized }
    return { ...others, access: { ...access, authorization: 'basic c3RhbGU=', renewed: async () => fresh } }
  }

  test('github 3.3: what it answers with 401 is fetched with a fresh token, which is the one that is used on', async () => {
    expect(await fetched(withFresh(authorization))).toMatchObject({
      kind: 'ready',
      access: { authorization },
    })
  })

  test('github 3.3: where there is no other token, or it takes that one as little, a sentence says so without the words of git', async () => {
    for (const fresh of [undefined, 'basic c3RhbGUgdG9v'])
      expect(await fetched(withFresh(fresh))).toEqual({
        kind: 'failed',
        code: 'clone_failed',
        exitCode: null,
        reason: 'ada/sample cannot be read: the code host did not accept your access.',
      })
  })

  test('github 3.2: where git is told to wait, all of that token waits, and nothing is asked again', async () => {
    await behind()
    const before = server.requests.length
    server.meet(/upload-pack/, { status: 429, headers: { 'retry-after': '60' } })
    await expect(fetched(reached())).rejects.toMatchObject({
      kind: 'rate_limited',
      message: 'ghs_secret has to wait.',
    })
    expect(server.requests.length).toBe(before + 1)
    server.meet(/info\/refs/, { status: 429, headers: { 'retry-after': '60' } })
    const other = answering(async () => ({ ...shown, id: '9' }))
    await expect(refreshReached(other, reached('ghs_secret', '9'), {})).rejects.toMatchObject({
      kind: 'rate_limited',
    })
    expect(server.requests.length).toBe(before + 2)
  })
})

describe('with a token of their own', () => {
  test('a refusal ends the fetch', async () => {
    const fetching: Pick<Mirrors, 'refresh'> = {
      refresh: ({ signal }) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve({ kind: 'aborted' }))),
    }
    const deps = { ...refuses('not_found'), mirrors: { ...mirrors, ...fetching } }
    const refused = await refreshReached(deps, reached('ghu_own'), {})
    expect(refused).toMatchObject({ kind: 'failed', code: 'no_repository_access' })
  })

  test('git tells of a host that neither shows nor refuses, where git cannot fetch either', async () => {
    await server.stop()
    const unreachable = await refreshReached(refuses('unavailable'), reached('ghu_own'), {})
    expect(unreachable).toMatchObject({ kind: 'failed', code: 'clone_failed' })
  })
})

describe('a repository that the host does not show to a person', () => {
  const hidden = () => Promise.reject(new CodeHostFault('not_found', 'Not Found'))
  const installation = (repositories: 'all' | 'selected'): Installation => ({
    id: '5',
    account: { id: '1001', login: 'ada', isOrganization: false, avatarUrl: '' },
    permissions: {},
    repositories,
    suspendedAt: null,
    htmlUrl: 'https://github.com/settings/installations/5',
  })
  const reasonFor = async (of: RepositoryAccess, byId?: Parameters<typeof answering>[1]) => {
    const refused = await refreshReached(answering(hidden, byId), of, {})
    return refused.kind === 'failed' ? refused.reason : ''
  }
  const withApp = (): RepositoryAccess => {
    const of = reached()
    return { ...of, installed: { ...of.installed, installation: installation('all') } }
  }
  const without = (noToken: NoToken, repositories: 'all' | 'selected'): RepositoryAccess => {
    const of = reached('ghu_own')
    return { ...of, installed: { ...of.installed, installation: installation(repositories), noToken } }
  }

  test('and that the App sees is not said to be there: the host hides that from them', async () => {
    const reason = await reasonFor(withApp())
    expect(reason).toMatch(/^GitHub no longer shows ada\/sample to your account: either/)
    expect(reason).not.toContain('exists')
  })

  test('github 4.6: the token of single-user mode is named in place of an account', async () => {
    const { codeHost, ...rest } = answering(hidden)
    const deps = { ...rest, codeHost: { ...codeHost, ownToken: 'ghp_own' } }
    expect(await refreshReached(deps, reached('ghu_own'), {})).toMatchObject({
      code: 'no_repository_access',
      reason: expect.stringMatching(
        /^GitHub no longer shows ada\/sample to the token in GITHUB_TOKEN: either/,
      ),
    })
  })

  test('nor to the App, by a token that may be older, may have been taken out of it', async () => {
    expect(await reasonFor(withApp(), hidden)).toMatch(
      /^Flightdeck's App does not reach ada\/sample: it was taken out/,
    )
  })

  test('and that an App with all repositories gets no token for is gone', async () => {
    expect(await reasonFor(without('not_selected', 'all'))).toMatch(/^ada\/sample was deleted or moved/)
  })

  test('may be gone or left out where the App has only some', async () => {
    expect(await reasonFor(without('not_selected', 'selected'))).toMatch(
      /^Flightdeck's App does not reach ada\/sample: it was taken out of the App's repositories, or deleted or moved\..* if it is still there/,
    )
  })

  test('may be either where the App can say nothing', async () => {
    const either = /either it was deleted or moved, or your access was taken back/
    expect(await reasonFor(reached('ghu_own'))).toMatch(either)
    expect(await reasonFor(without('no_key', 'all'))).toMatch(either)
    const away = () => Promise.reject(new CodeHostFault('unavailable', 'Away.'))
    expect(await reasonFor(withApp(), away)).toMatch(either)
  })
})

test('a repository that was made again under the name of one that is gone is not this one', async () => {
  const again = answering(async () => ({ ...shown, id: '8' }))
  const { dir, commit } = await behind()
  expect(await refreshReached(again, reached(), {})).toMatchObject({
    kind: 'failed',
    code: 'no_repository_access',
    reason: expect.stringContaining('another repository'),
  })
  expect(await commitOf(testGit, dir, commit)).toBeNull()
})

describe('a push', () => {
  const mirror = { dir: '', objects: '', moveHere: async () => undefined }
  const pushing = (mayPush: boolean | null) =>
    forPush(
      {
        codeHost: {
          gitAccess: async (token) => ({ url: reached().access.url, authorization: `basic of ${token}` }),
        },
      },
      { kind: 'ready', mirror, mayPush, ...reached() },
    )

  test('is made by the installation for who may push, and refused to who may only read', async () => {
    expect(await pushing(true)).toMatchObject({ kind: 'ready', access: { authorization } })
    expect(await pushing(false)).toMatchObject({ kind: 'failed', code: 'no_push_access' })
  })

  test('is made with the own token of a person of whom the host does not say whether they may', async () => {
    expect(await pushing(null)).toMatchObject({
      kind: 'ready',
      access: { gitToken: 'ghu_own', authorization: 'basic of ghu_own' },
    })
  })
})
