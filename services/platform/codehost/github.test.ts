/** The adapter with answers that the local code host does not give. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import { githubCodeHost } from './github.ts'
import { requestsTo } from './request.ts'

interface Answer {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A code host that answers as `answer` says, and the lines of the requests that it got. */
async function hostThat(answer: (line: string, body: string) => Answer) {
  const asked: string[] = []
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${request.url}`
    asked.push(line)
    const { status = 200, body, headers = {} } = answer(line, await text(request))
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  const server = createServer((request, response) => void reply(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closing.push(
    () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  )
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const requests = requestsTo({ apiUrl: url, serverUrl: url, paced: false })
  const codeHost = githubCodeHost({ serverUrl: url, requests, app: async () => undefined })
  return { asked, codeHost }
}

describe('a secondary limit that names no time', () => {
  const left = {
    'x-ratelimit-limit': '5000',
    'x-ratelimit-remaining': '4000',
    'x-ratelimit-reset': '4000000000',
  }
  const calls: readonly (readonly [string, (codeHost: CodeHost) => Promise<unknown>])[] = [
    ['REST', (codeHost) => codeHost.account('ghu_x')],
    ['GraphQL', (codeHost) => codeHost.pullRequestStates('ghu_x', [{ nodeId: 'PR_1' }])],
  ]
  const words = [
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
    'You have triggered an abuse detection mechanism. Please retry your request again later.',
  ]

  test.each(calls.flatMap(([api, call]) => words.map((message) => ({ api, message, call }))))(
    'asks the holder to wait for a minute, by $api: $message',
    async ({ message, call }) => {
      const { asked, codeHost } = await hostThat(() => ({ status: 403, body: { message }, headers: left }))
      await expect(call(codeHost)).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 })
      await expect(call(codeHost)).rejects.toMatchObject({ kind: 'rate_limited' })
      expect(asked).toHaveLength(1)
      expect(codeHost.allowance('ghu_x')).toMatchObject({ remaining: 0 })
    },
  )

  test('is told from a refusal that lasts', async () => {
    const body = { message: 'Must have admin rights to Repository.' }
    const { asked, codeHost } = await hostThat(() => ({ status: 403, body, headers: left }))
    const refused = {
      kind: 'forbidden',
      message: 'GitHub does not allow this: Must have admin rights to Repository.',
    }
    await expect(codeHost.account('ghu_x')).rejects.toMatchObject(refused)
    await expect(codeHost.account('ghu_x')).rejects.toMatchObject(refused)
    expect(asked).toHaveLength(2)
  })
})

describe('the pull request of a branch', () => {
  const at = { owner: 'ada', name: 'engine' }
  const wanted = { head: 'work', base: 'main' }
  const pull = (
    number: number,
    fields: { head?: string; base?: string; state?: string; repo?: { id: number } | null } = {},
  ) => {
    const { head = 'work', base = 'main', state = 'open', repo = { id: 7 } } = fields
    const html_url = `https://code.example/pull/${number}`
    return { number, html_url, state, head: { ref: head, repo }, base: { ref: base, repo: { id: 7 } } }
  }
  const hostWith = (listed: readonly unknown[], known?: unknown) =>
    hostThat((line) => {
      if (line.includes('/pulls?')) return { body: listed }
      return known === undefined ? { status: 404, body: { message: 'Not Found' } } : { body: known }
    })

  test('is the one that matches, whatever else the host lists before it', async () => {
    const others = [
      pull(1, { head: 'other' }),
      pull(2, { base: 'other' }),
      pull(3, { repo: { id: 8 } }),
      pull(4, { repo: null }),
      pull(5, { state: 'closed' }),
    ]
    const { codeHost } = await hostWith([...others, pull(6)])
    expect(await codeHost.findPullRequest('ghu_x', at, wanted)).toMatchObject({ number: 6 })
    const { codeHost: without } = await hostWith(others)
    expect(await without.findPullRequest('ghu_x', at, wanted)).toBeUndefined()
  })

  test('is the one with the known number, although its base has changed', async () => {
    const { asked, codeHost } = await hostWith([], pull(9, { base: 'renamed' }))
    expect(await codeHost.findPullRequest('ghu_x', at, { ...wanted, number: 9 })).toMatchObject({ number: 9 })
    expect(asked.at(-1)).toBe('GET /repos/ada/engine/pulls/9')
  })

  test.each([
    ['is closed', pull(9, { state: 'closed' })],
    ['is from another branch', pull(9, { head: 'other' })],
    ['is from a fork', pull(9, { repo: { id: 8 } })],
    ['is not shown', undefined],
  ])('is not the one with the known number if that %s', async (_, known) => {
    const { codeHost } = await hostWith([], known)
    expect(await codeHost.findPullRequest('ghu_x', at, { ...wanted, number: 9 })).toBeUndefined()
  })
})

/** A pull request as GraphQL shows it. */
const pull = (number: number) => ({
  id: `PR_${number}`,
  number,
  state: 'OPEN',
  isDraft: false,
  isCrossRepository: false,
  updatedAt: '2026-01-31T12:00:00Z',
  mergedAt: null,
  headRefOid: 'c'.repeat(40),
  mergedBy: null,
  repository: { databaseId: 7, nameWithOwner: 'ada/engine' },
})

describe('an answer that lacks a pull request', () => {
  const keys = [{ nodeId: 'PR_1' }, { nodeId: 'PR_2' }]
  const exceeded = { type: 'RESOURCE_LIMITS_EXCEEDED', message: 'Resource limits for this query exceeded.' }
  const Ids = z.object({ variables: z.object({ ids: z.array(z.string()) }) })
  /** The pull requests that a query asks for; the one that is `lacking` is empty. */
  const nodesOf = (body: string, lacking?: string) =>
    Ids.parse(JSON.parse(body)).variables.ids.map((id) => (id === lacking ? null : pull(Number(id.slice(3)))))

  test.each([
    ['for the pull request', { ...exceeded, path: ['nodes', 1] }],
    ['for a part of it', { ...exceeded, path: ['nodes', 1, 'commits'] }],
    ['for the whole query', exceeded],
  ])('because a limit is exceeded %s is asked for less', async (_, error) => {
    const { asked, codeHost } = await hostThat((_line, body) =>
      !body.includes('statusCheckRollup')
        ? { body: { data: { nodes: nodesOf(body) } } }
        : { body: { data: { nodes: nodesOf(body, 'PR_2') }, errors: [error] } },
    )
    expect(await codeHost.pullRequestStates('ghu_x', keys)).toMatchObject([
      { kind: 'read', pullRequest: { nodeId: 'PR_1', standing: { checksReadable: true } } },
      { kind: 'read', pullRequest: { nodeId: 'PR_2', standing: { checksReadable: false } } },
    ])
    expect(asked).toHaveLength(2)
  })

  test('because a limit is exceeded leaves the next answer its checks', async () => {
    const { codeHost } = await hostThat((_line, body) =>
      body.includes('PR_2') && body.includes('statusCheckRollup')
        ? { body: { data: { nodes: nodesOf(body, 'PR_2') }, errors: [exceeded] } }
        : { body: { data: { nodes: nodesOf(body) } } },
    )
    await codeHost.pullRequestStates('ghu_x', keys)
    expect(await codeHost.pullRequestStates('ghu_x', [{ nodeId: 'PR_1' }])).toMatchObject([
      { kind: 'read', pullRequest: { standing: { checksReadable: true } } },
    ])
  })

  test('because a limit is exceeded by the smallest question is a refusal, and hides nothing', async () => {
    const { asked, codeHost } = await hostThat((_line, body) => ({
      body: { data: { nodes: nodesOf(body, 'PR_2') }, errors: [exceeded] },
    }))
    await expect(codeHost.pullRequestStates('ghu_x', keys)).rejects.toMatchObject({
      kind: 'invalid',
      message: exceeded.message,
    })
    expect(asked).toHaveLength(3)
  })

  test.each([
    ['NOT_FOUND', 'not_found'],
    ['FORBIDDEN', 'forbidden'],
  ])('because of %s hides it alone', async (type, code) => {
    const errors = [{ type, message: 'x', path: ['nodes', 1] }]
    const { asked, codeHost } = await hostThat(() => ({ body: { data: { nodes: [pull(1), null] }, errors } }))
    expect(await codeHost.pullRequestStates('ghu_x', keys)).toMatchObject([
      { kind: 'read' },
      { kind: 'hidden', code },
    ])
    expect(asked).toHaveLength(1)
  })
})

describe('more checks than one page has', () => {
  const green = Array.from({ length: 100 }, (_, n) => ({ name: `green ${n}`, conclusion: 'SUCCESS' }))
  /** The checks of a pull request with these, of which the first hundred are shown. */
  async function checksWhere(state: string, totalCount: number, nodes: readonly object[] = green) {
    const statusCheckRollup = { state, contexts: { totalCount, nodes } }
    const commits = { nodes: [{ commit: { oid: 'c'.repeat(40), statusCheckRollup } }] }
    const { codeHost } = await hostThat(() => ({ body: { data: { nodes: [{ ...pull(1), commits }] } } }))
    const [read] = await codeHost.pullRequestStates('ghu_x', [{ nodeId: 'PR_1' }])
    return read?.kind === 'read' ? read.pullRequest.standing?.checks : undefined
  }

  test.each([
    ['FAILURE', { state: 'failing', passing: 100, failing: 1, pending: 0 }],
    ['ERROR', { state: 'failing', passing: 100, failing: 1, pending: 0 }],
    ['PENDING', { state: 'pending', passing: 100, failing: 0, pending: 1 }],
    ['EXPECTED', { state: 'pending', passing: 100, failing: 0, pending: 1 }],
    ['SUCCESS', { state: 'passing', passing: 100, failing: 0, pending: 0 }],
  ])('are as the host says that all of them are: %s', async (state, checks) => {
    expect(await checksWhere(state, 101)).toEqual(checks)
  })

  test('are counted as far as they are shown', async () => {
    const red = [
      { name: 'red', conclusion: 'FAILURE' },
      { name: 'red too', conclusion: 'FAILURE' },
    ]
    expect(await checksWhere('FAILURE', 103, [...green.slice(2), ...red])).toMatchObject({ failing: 2 })
    expect(await checksWhere('FAILURE', 100)).toMatchObject({ state: 'passing', failing: 0 })
  })

  test('are all read for those that failed', async () => {
    const run = (id: number, conclusion: string) => ({ id, name: `run ${id}`, conclusion })
    const status = (context: number, state: string) => ({ context: `status ${context}`, state })
    const hundred = Array.from({ length: 100 }, (_, n) => n)
    const { asked, codeHost } = await hostThat((line) => {
      const isFirst = /[?&]page=1(&|$)/.test(line)
      if (line.includes('/check-runs'))
        return {
          body: { check_runs: isFirst ? hundred.map((n) => run(n, 'success')) : [run(100, 'failure')] },
        }
      return {
        body: { statuses: isFirst ? hundred.map((n) => status(n, 'success')) : [status(100, 'error')] },
      }
    })
    const failed = await codeHost.failedChecks('ghu_x', { owner: 'ada', name: 'engine' }, 'c'.repeat(40))
    expect(failed.map(({ name }) => name)).toEqual(['run 100', 'status 100'])
    expect(asked).toHaveLength(4)
  })
})
