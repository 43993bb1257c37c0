import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { alwaysSent, neededPermissions, wantedEvents } from '#domain/appPermissions.ts'
import { faultOf, requestsTo } from '#platform/codehost/request.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { codeHostContract } from './codeHost.contract.ts'
import {
  clientSecret,
  sharedSamples,
  redirectUri,
  registered,
  startLocal,
  startPlain,
  temporaryFolder,
  type Folder,
} from './codeHost.fixture.ts'

for (const [name, start] of [
  ['the local code host', startPlain],
  ['the stand-in for GitHub', (dataDir: string, on: Folder) => startLocal(dataDir, { on })],
] as const)
  codeHostContract(name, async () => {
    const folder = await temporaryFolder()
    const local = await start(folder.path, await sharedSamples())
    return {
      codeHost: local.codeHost,
      serverUrl: local.url,
      apiUrl: local.api,
      close: async () => {
        await local.stop()
        await folder.remove()
        if (local.log.length > 0) throw new Error(`The code host complains: ${local.log.join('\n')}`)
      },
    }
  })

test('where the app is installed and managed are pages of the host', async () => {
  const folder = await temporaryFolder()
  const local = await startLocal(folder.path, { on: await sharedSamples() })
  const { install, manage } = await local.codeHost.appUrls()
  for (const address of [install, manage]) {
    expect(address.startsWith(`${local.url}/`)).toBe(true)
    expect((await fetch(address)).status).toBe(200)
  }
  await local.stop()
  await folder.remove()
})

describe('the adapter, where the host fails', () => {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })

  /** A host that answers as `listener` says, and counts what it is asked. */
  async function failingHost(listener: RequestListener) {
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      listener(request, response)
    })
    await new Promise<void>((listening) => {
      server.listen(0, '127.0.0.1', listening)
    })
    closing.push(
      () =>
        new Promise((closed) => {
          server.close(() => closed())
          server.closeAllConnections()
        }),
    )
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    return {
      asked,
      codeHost: githubCodeHost({
        serverUrl: url,
        requests: requestsTo({ apiUrl: url, serverUrl: url, paced: false }),
        app: async () => registered,
      }),
    }
  }

  const at = { owner: 'ada', name: 'engine' }
  const json =
    (status: number, body: unknown, headers: Record<string, string> = {}): RequestListener =>
    (_, response) => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
    }

  test('of an answer with errors, what it holds is kept; a limit is told with how long to wait', async () => {
    const pull = {
      id: 'PR_1',
      number: 1,
      state: 'OPEN',
      isDraft: false,
      isCrossRepository: false,
      updatedAt: '2026-01-31T12:00:00Z',
      mergedAt: null,
      headRefOid: 'c'.repeat(40),
      mergedBy: null,
      repository: { databaseId: 7, nameWithOwner: 'ada/engine' },
    }
    const forbidden = { type: 'FORBIDDEN', path: ['nodes', 1], message: 'Resource not accessible' }
    const partial = await failingHost(json(200, { data: { nodes: [pull, null] }, errors: [forbidden] }))
    const asked = [{ nodeId: 'PR_1' }, { nodeId: 'PR_2' }]
    expect(await partial.codeHost.pullRequestStates('ghu_x', asked)).toMatchObject([
      { kind: 'read', pullRequest: { nodeId: 'PR_1', repositoryId: '7' } },
      { kind: 'hidden', code: 'forbidden' },
    ])
    const limits: [RequestListener, object][] = [
      [
        json(200, { errors: [{ type: 'RATE_LIMITED', message: 'x' }] }, { 'retry-after': '7' }),
        { retryAfterMs: 7_000 },
      ],
      [json(403, { message: 'secondary rate limit' }, { 'retry-after': '60' }), { retryAfterMs: 60_000 }],
      [json(429, { message: 'x' }), { retryAfterMs: 60_000 }],
    ]
    for (const [listener, expected] of limits) {
      const limited = await failingHost(listener)
      await expect(limited.codeHost.pullRequestStates('ghu_x', asked)).rejects.toMatchObject({
        kind: 'rate_limited',
        ...expected,
      })
      expect(limited.asked).toEqual(['POST /graphql'])
    }
    const others = [
      [json(401, { message: 'Bad credentials' }), 'unauthorized'],
      [json(502, {}), 'unavailable'],
      [json(200, { data: { nodes: 'x' } }), 'unavailable'],
      [json(200, { data: null, errors: [{ message: 'x' }] }), 'invalid'],
    ] as const
    for (const [listener, kind] of others) {
      const failing = await failingHost(listener)
      await expect(failing.codeHost.pullRequestStates('ghu_x', asked)).rejects.toMatchObject({ kind })
    }
  })

  test('a right is that of the account whose words were read, and of nobody who took its login over', async () => {
    const host = await failingHost(json(200, { permission: 'admin', user: { id: 9, login: 'grace' } }))
    const right = (id: string) => host.codeHost.repositoryRight('ghu_x', at, { id, login: 'grace' })
    expect(await right('9')).toBe('admin')
    expect(await right('8')).toBe('none')
    const unnamed = await failingHost(json(200, { permission: 'admin', user: null }))
    expect(await unnamed.codeHost.repositoryRight('ghu_x', at, { id: '9', login: 'grace' })).toBe('none')
  })

  test('reviews are read also where comments on the whole are not shown', async () => {
    const review = {
      id: 5,
      user: { id: 9, login: 'grace' },
      body: 'Shorter.',
      state: 'COMMENTED',
      html_url: 'https://code.example/5',
      submitted_at: '2026-01-31T12:00:00Z',
    }
    for (const status of [403, 404]) {
      const host = await failingHost((request, response) => {
        const path = request.url ?? ''
        const answer = path.includes('/issues/')
          ? json(status, { message: 'Resource not accessible by integration' })
          : json(200, path.includes('/reviews') ? [review] : [])
        answer(request, response)
      })
      expect(await host.codeHost.pullRequestFeedback('ghu_x', at, 1)).toMatchObject({
        reviews: [{ id: '5' }],
        lines: [],
        comments: [],
      })
    }
  })

  test('threads that are found are counted, also those that were resolved before', async () => {
    const thread = (databaseId: number) => ({
      id: `T_${databaseId}`,
      isResolved: true,
      comments: { nodes: [{ databaseId }] },
    })
    const reviewThreads = {
      nodes: [thread(1), thread(2)],
      pageInfo: { endCursor: null, hasNextPage: false },
    }
    const { codeHost } = await failingHost(json(200, { data: { node: { reviewThreads } } }))
    expect(await codeHost.resolveThreads('ghu_x', 'PR_1', ['1', '3'])).toBe(1)
    expect(await codeHost.resolveThreads('ghu_x', 'PR_1', ['3'])).toBe(0)
  })

  test('each request names the version of the API', async () => {
    const versions: unknown[] = []
    const { codeHost } = await failingHost((request, response) => {
      versions.push(request.headers['x-github-api-version'])
      json(404, { message: 'Not Found' })(request, response)
    })
    await expect(codeHost.account('ghu_x')).rejects.toMatchObject({ kind: 'not_found' })
    expect(versions).toEqual(['2022-11-28'])
  })

  test('what only reads is asked once more when the host stumbles, and what writes is not', async () => {
    const { asked, codeHost } = await failingHost(json(502, { message: 'Server Error' }))
    await expect(codeHost.account('ghu_x')).rejects.toMatchObject({
      kind: 'unavailable',
      message: "GitHub can't be reached. Try again later.",
    })
    expect(asked).toEqual(['GET /user', 'GET /user'])
    await expect(
      codeHost.createRepository('ghu_x', { name: 'engine', description: '', isPrivate: false }),
    ).rejects.toMatchObject({ kind: 'unavailable' })
    expect(asked.slice(2)).toEqual(['POST /user/repos'])
  })

  test('a host that is not there is unavailable', async () => {
    const { codeHost } = await failingHost((request) => request.socket.destroy())
    await expect(codeHost.account('ghu_x')).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(codeHost.refresh('ghr_x')).rejects.toMatchObject({ kind: 'unavailable' })
  })

  test.each([
    [
      403,
      { 'x-ratelimit-remaining': '0' },
      'rate_limited',
      /^GitHub's rate limit is used up\. Try again later\.$/,
    ],
    [429, {}, 'rate_limited', /^GitHub's rate limit is used up\. Try again later\.$/],
    [403, { 'retry-after': '90' }, 'rate_limited', /^GitHub asks us to wait until \d\d:\d\d UTC\.$/],
    [403, {}, 'forbidden', /^GitHub does not allow this: The reason\.$/],
    [401, {}, 'unauthorized', /^GitHub no longer accepts your sign-in\. Connect .* again in Settings\.$/],
    [404, {}, 'not_found', /^GitHub can't find this, or your account has no access to it\.$/],
    [422, {}, 'invalid', /^The reason$/],
    [503, {}, 'unavailable', /^GitHub can't be reached\. Try again later\.$/],
  ] as const)(
    'status %i with headers %j is %s, said in a sentence',
    async (status, headers, kind, sentence) => {
      const { codeHost } = await failingHost(json(status, { message: 'The reason' }, headers))
      const message = expect.stringMatching(sentence)
      await expect(codeHost.repository('ghu_x', at)).rejects.toMatchObject({ kind, message })
    },
  )

  const all = {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4000',
    'x-ratelimit-reset': '4000000000',
  }

  /**
   * A host that gives these answers, one after the other, and the last one to all that follows. It answers none before `underWay` requests have
   * arrived. The clock stands at `now`.
   */
  async function answering(answers: readonly RequestListener[], underWay = 1) {
    const left = [...answers]
    const held: (() => void)[] = []
    let arrived = 0
    const { codeHost } = await failingHost((request, response) => {
      const [answer] = left.length > 1 ? left.splice(0, 1) : left
      held.push(() => answer?.(request, response))
      arrived += 1
      if (arrived >= underWay) for (const give of held.splice(0)) give()
    })
    vi.useFakeTimers({ toFake: ['Date'] })
    closing.push(async () => void vi.useRealTimers())
    // Headers with dates know no milliseconds.
    const now = Math.ceil(Date.now() / 1_000) * 1_000
    vi.setSystemTime(now)
    return { codeHost, now }
  }

  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString()

  test.each([
    ['403 with seconds', 403, () => ({ 'retry-after': '60' })],
    ['403 with a date', 403, () => ({ 'retry-after': inAMinute() })],
    ['429 without a word', 429, () => ({})],
    ['429 with a word that is none', 429, () => ({ 'retry-after': 'soon' })],
  ] as const)(
    'a wait that it asks for is kept, whatever it answers meanwhile: %s',
    async (_, status, headers) => {
      const { codeHost, now } = await answering(
        [(...args) => json(status, { message: 'x' }, { ...all, ...headers() })(...args), json(404, {}, all)],
        2,
      )
      const both = await Promise.allSettled([1, 2].map(() => codeHost.repository('ghu_x', at)))
      const kinds = both.map((one) => one.status === 'rejected' && one.reason.kind)
      expect(kinds.toSorted()).toEqual(['not_found', 'rate_limited'])
      expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 0, resetsAt: now + 60_000 })
      vi.setSystemTime(now + 60_000)
      expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 4_000 })
    },
  )

  test('of two waits the later end counts', async () => {
    const { codeHost, now } = await answering(
      ['3600', '60'].map((seconds) => json(429, { message: 'x' }, { 'retry-after': seconds })),
      2,
    )
    await Promise.allSettled([1, 2].map(() => codeHost.repository('ghu_x', at)))
    expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 0, resetsAt: now + 3_600_000 })
  })

  test('no wait is kept for longer than a day, and no limit is taken to last longer', async () => {
    const { codeHost, now } = await answering([
      json(429, { message: 'x' }, { 'retry-after': '100000000000000' }),
      json(404, {}, { ...all, 'x-ratelimit-remaining': '0' }),
    ])
    await expect(codeHost.repository('ghu_x', at)).rejects.toMatchObject({ kind: 'rate_limited' })
    expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 0, resetsAt: now + 86_400_000 })
    vi.setSystemTime(now + 86_400_000)
    await expect(codeHost.repository('ghu_x', at)).rejects.toMatchObject({ kind: 'not_found' })
    expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 0, resetsAt: now + 2 * 86_400_000 })
  })

  test.each([200, 301, 404, 422, 503])(
    'an answer that refuses nothing for a limit asks its holder for no wait: %i',
    async (status) => {
      const { codeHost } = await answering([json(status, { message: 'x' }, { ...all, 'retry-after': '60' })])
      await expect(codeHost.repository('ghu_x', at)).rejects.toThrow(CodeHostFault)
      expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 4_000 })
    },
  )

  test('GraphQL refuses with status 200, and the wait that it asks for is kept', async () => {
    const { codeHost, now } = await answering([
      json(200, { errors: [{ type: 'RATE_LIMITED', message: 'x' }] }, { ...all, 'retry-after': '60' }),
    ])
    const asked = codeHost.pullRequestStates('ghu_x', [{ nodeId: 'PR_1' }])
    await expect(asked).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 })
    expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 0, resetsAt: now + 60_000 })
  })

  test('an answer that is none of GitHub is a fault of the host, and no defect of ours', async () => {
    for (const answer of [json(200, { surprise: true }), json(200, [])]) {
      const { codeHost } = await failingHost(answer)
      await expect(codeHost.account('ghu_x')).rejects.toMatchObject({ kind: 'unavailable' })
      await expect(codeHost.refresh('ghr_x')).rejects.toMatchObject({ kind: 'unavailable' })
    }
  })

  test('no fault carries a token or the secret of the app', async () => {
    const { codeHost } = await failingHost(json(500, { message: 'Server Error' }))
    const token = 'ghu_verySecretToken'
    const faults = await Promise.all(
      [
        codeHost.account(token),
        codeHost.revoke(token),
        codeHost.refresh(token),
        codeHost.exchangeCode({ code: token, redirectUri, codeVerifier: token }),
      ].map((asked) => asked.catch((error: unknown) => error)),
    )
    for (const fault of faults) {
      if (!(fault instanceof CodeHostFault)) throw new Error('no fault')
      const said = JSON.stringify([fault, fault.message, fault.stack, fault.cause])
      expect(said).not.toContain(token)
      expect(said).not.toContain(clientSecret)
    }
  })
})

describe('the permissions of the App', () => {
  const missing = (accepted: string | undefined, message = 'Resource not accessible by integration') =>
    faultOf(
      Object.assign(new Error(message), {
        status: 403,
        response: {
          data: { message },
          headers: accepted === undefined ? {} : { 'x-accepted-github-permissions': accepted },
        },
      }),
    )

  test('that a refusal names are told by name; of several ways the first', () => {
    expect(missing('pull_requests=write,contents=read; administration=write')).toMatchObject({
      kind: 'forbidden',
      missing: [
        ['pull_requests', 'write'],
        ['contents', 'read'],
      ],
      message: expect.stringMatching(
        /^Flightdeck's App .* \(pull_requests: write, contents: read\)\. Settings/,
      ),
    })
  })

  test.each([
    [undefined, 'Resource not accessible by integration'],
    ['', 'Resource not accessible by integration'],
    ['<b>=write', 'Resource not accessible by integration'],
    ['contents=write', 'Must have admin rights to Repository'],
  ])('are not named where the refusal is about something else: %s, %s', (accepted, message) => {
    expect(missing(accepted, message)).toMatchObject({
      kind: 'forbidden',
      missing: [],
      message: `GitHub does not allow this: ${message}.`,
    })
  })
})

test('events that we ask for are covered by a permission that we ask for, and none comes anyway', () => {
  for (const [event, [permission]] of Object.entries(wantedEvents)) {
    expect(neededPermissions).toHaveProperty(permission)
    expect(alwaysSent).not.toContain(event)
  }
})

describe('the adapter, and loopback names', () => {
  const onLoopback = githubCodeHost({
    serverUrl: 'http://localhost:8081',
    requests: requestsTo({
      apiUrl: 'http://127.0.0.1:8081/api/v3',
      serverUrl: 'http://localhost:8081',
      paced: false,
    }),
    app: async () => registered,
  })
  const request = { state: 's', redirectUri, codeChallenge: 'c' }

  test.each([
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8081'],
    ['http://localhost:8080', 'http://localhost:8081'],
    ['http://[::1]:8080', 'http://[::1]:8081'],
    ['https://flightdeck.example', 'http://localhost:8081'],
  ])('who comes by %s signs in at %s', async (origin, server) => {
    expect(new URL(await onLoopback.authorizeUrl({ ...request, origin })).origin).toBe(server)
  })

  test('they are one host for addresses of repositories, by the same port', () => {
    const at = { owner: 'ada', name: 'engine' }
    expect(onLoopback.parseRepositoryUrl('http://127.0.0.1:8081/ada/engine')).toEqual(at)
    expect(onLoopback.parseRepositoryUrl('http://[::1]:8081/ada/engine')).toEqual(at)
    expect(onLoopback.parseRepositoryUrl('http://127.0.0.1:9999/ada/engine')).toBeUndefined()
  })

  test('GitHub itself is never taken for this machine', async () => {
    const github = githubCodeHost({
      serverUrl: 'https://github.com',
      requests: requestsTo({
        apiUrl: 'https://api.github.com',
        serverUrl: 'https://github.com',
        paced: false,
      }),
      app: async () => ({ ...registered, slug: 'our-app' }),
    })
    const origin = 'http://127.0.0.1:8080'
    expect(new URL(await github.authorizeUrl({ ...request, origin })).origin).toBe('https://github.com')
    expect(await github.appUrls()).toEqual({
      install: 'https://github.com/apps/our-app/installations/new',
      manage: 'https://github.com/apps/our-app',
    })
    const parsed = { owner: 'octocat', name: 'hello.world' }
    expect(github.parseRepositoryUrl('https://github.com/octocat/hello.world')).toEqual(parsed)
    expect(github.parseRepositoryUrl('git@github.com:octocat/hello.world.git')).toEqual(parsed)
    expect(github.parseRepositoryUrl('http://127.0.0.1/octocat/hello.world')).toBeUndefined()
  })
})
