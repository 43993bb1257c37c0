/** Refusals by the code host: the product waits as long as it was asked to, and each message names the credential that was refused. */
import { createServer, type RequestListener } from 'node:http'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { githubApps } from '#platform/codehost/githubApps.ts'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { requestsTo, type RequestsOptions } from '#platform/codehost/request.ts'
import { hearingBus } from '../hearingBus.ts'
import { appPrivateKey, registered } from './codeHost.fixture.ts'

const at = { owner: 'ada', name: 'engine' }
const minute = { 'retry-after': '60' }
const repository = {
  id: 7,
  name: 'engine',
  full_name: 'ada/engine',
  owner: { id: 1, login: 'ada', type: 'User' },
  private: false,
  html_url: 'https://code.example/ada/engine',
  default_branch: 'main',
}

const closing: (() => Promise<void>)[] = []
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(new Date('2026-02-01T10:00:00Z'))
})
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closing.splice(0)) await close()
})

type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]

/** A host that gives these answers one after the other, and then the repository; with a record of what it was asked. */
async function hostOf(answers: readonly Answer[], options: Partial<RequestsOptions> = {}) {
  const left = [...answers]
  const asked: string[] = []
  const listener: RequestListener = (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const [status, body, headers] = left.shift() ?? [200, repository]
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const requests = requestsTo({ apiUrl: url, serverUrl: url, paced: false, ...options })
  const app = async () => ({ ...registered, appId: '1', privateKey: appPrivateKey })
  return {
    asked,
    codeHost: githubCodeHost({ serverUrl: url, requests, app }),
    apps: githubApps({ serverUrl: url, requests, app }),
  }
}

const later = (ms: number) => vi.setSystemTime(Date.now() + ms)

describe('github 3.2: a wait that the host asks for is kept', () => {
  test('nothing is asked of it with that token until the wait is over, by whichever call', async () => {
    const { codeHost, asked } = await hostOf([[403, { message: 'secondary rate limit' }, minute]])
    await expect(codeHost.repository('ghu_x', at)).rejects.toMatchObject({ kind: 'rate_limited' })
    later(20_000)
    const during = [
      () => codeHost.repository('ghu_x', at),
      () => codeHost.repositories('ghu_x'),
      () => codeHost.pullRequestStates('ghu_x', [{ nodeId: 'PR_1' }]),
      () =>
        codeHost.openPullRequest('ghu_x', at, { head: 'a', base: 'b', title: 't', body: '', draft: false }),
      () => codeHost.writeComment('ghu_x', at, 1, { threadId: null, body: 'x' }),
      async () => codeHost.throwIfRateLimited('ghu_x'),
    ]
    for (const call of during)
      await expect(call()).rejects.toMatchObject({
        kind: 'rate_limited',
        retryAfterMs: 40_000,
        message: 'GitHub asks us to wait until 10:01 UTC.',
      })
    expect(asked).toHaveLength(1)
    // Another person's limit is their own.
    expect(await codeHost.repository('ghu_y', at)).toMatchObject({ id: '7' })
    later(40_000)
    codeHost.throwIfRateLimited('ghu_x')
    expect(await codeHost.repository('ghu_x', at)).toMatchObject({ id: '7' })
    expect(asked).toHaveLength(3)
  })

  test('a limit that is used up keeps back what counts to it until it begins anew, and nothing else', async () => {
    const reset = String(Date.parse('2026-02-01T10:15:00Z') / 1_000)
    const usedUp = { 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }
    const { codeHost, asked } = await hostOf([
      [200, repository, usedUp],
      [200, { data: { nodes: [] } }],
    ])
    await codeHost.repository('ghu_x', at)
    await expect(codeHost.repository('ghu_x', at)).rejects.toMatchObject({ retryAfterMs: 900_000 })
    await codeHost.pullRequestStates('ghu_x', [{ nodeId: 'PR_1' }]).catch(() => undefined)
    expect(asked).toEqual(['GET /repos/ada/engine', 'POST /graphql'])
    later(900_000)
    await codeHost.repository('ghu_x', at)
  })

  test('the key of the App and sign-in keep theirs', async () => {
    const { codeHost, apps, asked } = await hostOf([
      [429, { message: 'x' }, minute],
      [429, { message: 'x' }, minute],
    ])
    const token = { installationId: '1', repositoryId: '7', permissions: {} } as const
    for (const _ of [1, 2]) {
      await expect(apps.installationToken(token)).rejects.toMatchObject({ kind: 'rate_limited' })
      await expect(apps.app()).rejects.toMatchObject({ kind: 'rate_limited' })
      await expect(codeHost.refresh('ghr_x')).rejects.toMatchObject({ kind: 'rate_limited' })
    }
    expect(asked).toEqual(['POST /app/installations/1/access_tokens', 'POST /login/oauth/access_token'])
  })

  test('what one process is told another one keeps', async () => {
    const bus = hearingBus()
    const here = await hostOf([], { bus })
    const there = await hostOf([[403, { message: 'x' }, minute]], { bus })
    await expect(there.codeHost.repository('ghu_x', at)).rejects.toMatchObject({ kind: 'rate_limited' })
    await expect(here.codeHost.repository('ghu_x', at)).rejects.toMatchObject({ retryAfterMs: 60_000 })
    expect(here.asked).toEqual([])
  })

  test('where git is told to wait, the same token waits a minute for everything', async () => {
    const { codeHost, asked } = await hostOf([])
    expect(codeHost.recordGitRateLimit('ghu_x')).toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 })
    await expect(codeHost.repository('ghu_x', at)).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(asked).toEqual([])
  })
})

test('github 4.4: an App that is shown to nobody without a token is private, and where nothing is said neither', async () => {
  const { apps, asked } = await hostOf([
    [200, {}],
    [404, { message: 'Not Found' }],
    [401, { message: 'Requires authentication' }],
  ])
  expect([await apps.isPublic(), await apps.isPublic(), await apps.isPublic()]).toEqual([true, false, null])
  expect(new Set(asked)).toEqual(new Set([`GET /apps/${registered.slug}`]))
})

describe('a refusal by single sign-on', () => {
  const refusing = async (sso: string) => {
    const { codeHost } = await hostOf(
      [[403, { message: 'Resource protected by organization SAML enforcement.' }, { 'x-github-sso': sso }]],
      { serverUrl: 'https://github.com' },
    )
    return codeHost.repository('ghu_x', at).catch((fault: unknown) => fault)
  }

  test('github 3 (SSO): carries the link that the host gives', async () => {
    const link = 'https://github.com/orgs/acme/sso?authorization_request=A1'
    expect(await refusing(`required; url=${link}`)).toMatchObject({
      kind: 'forbidden',
      message: expect.stringContaining(`Open ${link}, then`),
    })
  })

  test.each([
    'required; url=http://github.com/orgs/acme/sso',
    'required; url=https://github.com.evil.example/orgs/acme/sso',
    'required; url=javascript:alert(1)',
    'partial-results; organizations=1',
  ])('carries no other one: %s', async (sso) => {
    expect(await refusing(sso)).toMatchObject({
      message: 'GitHub does not allow this: Resource protected by organization SAML enforcement.',
    })
  })
})

describe('github 4.6: a sentence names the credential that was refused', () => {
  const accepted = { 'x-accepted-github-permissions': 'pull_requests=write' }
  const refusals = [
    [
      'by personal access token',
      { hasOwnToken: true },
      /^The token in GITHUB_TOKEN has no permission for this \(pull_requests: write\)\. .*Personal access tokens\.$/,
    ],
    ['by integration', {}, /^Flightdeck's App on GitHub has no permission for this \(pull_requests: write\)/],
  ] as const
  test.each(refusals)('a right that is missing, refused %s', async (by, options, sentence) => {
    const { codeHost } = await hostOf(
      [[403, { message: `Resource not accessible ${by}` }, accepted]],
      options,
    )
    await expect(codeHost.repository('x', at)).rejects.toMatchObject({
      message: expect.stringMatching(sentence),
      missing: [['pull_requests', 'write']],
    })
  })

  test('github 4.7: the scopes of a token are those that the host lists, and none are told of where it lists none', async () => {
    const user = { id: 1, login: 'ada', avatar_url: '' }
    const { codeHost } = await hostOf([
      [200, user, { 'x-oauth-scopes': 'admin:org, repo' }],
      [200, user, { 'x-oauth-scopes': '' }],
      [200, user],
    ])
    expect(await codeHost.tokenScopes('x')).toEqual(['admin:org', 'repo'])
    expect(await codeHost.tokenScopes('x')).toEqual([])
    expect(await codeHost.tokenScopes('x')).toBeNull()
  })

  test('what is not shown to it', async () => {
    const hidden: Answer = [404, { message: 'Not Found' }]
    const own = await hostOf([hidden], { hasOwnToken: true })
    await expect(own.codeHost.repository('x', at)).rejects.toThrow(
      /or the token in GITHUB_TOKEN has no access/,
    )
    const person = await hostOf([hidden, hidden])
    await expect(person.codeHost.repository('x', at)).rejects.toThrow(/or your account has no access to it/)
    person.codeHost.nameHolder('x', 'installation:7')
    await expect(person.codeHost.repository('x', at)).rejects.toThrow(
      /or Flightdeck's App has no access to it/,
    )
  })

  test('a token or key that is not taken', async () => {
    const bad: Answer = [401, { message: 'Bad credentials' }]
    const own = await hostOf([bad], { hasOwnToken: true })
    await expect(own.codeHost.account('x')).rejects.toThrow(/no longer accepts the token in GITHUB_TOKEN/)
    const person = await hostOf([bad])
    await expect(person.codeHost.account('x')).rejects.toThrow(/no longer accepts your sign-in/)
    const key = await hostOf([bad, bad])
    await expect(key.apps.installations()).rejects.toThrow(/does not accept the private key of the App/)
  })
})
