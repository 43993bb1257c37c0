import { describe, expect, test } from 'vitest'
import { request, type ApiCall } from './request.ts'

const call: ApiCall = { method: 'GET', path: '/tasks', fallback: 'Failed to fetch tasks' }

/** A server that gives this answer, and a list of the requests that it received. */
function server(answer: (signal: AbortSignal) => Promise<Response> | Response) {
  const asked: { url: string; init: RequestInit }[] = []
  const fetch: typeof globalThis.fetch = async (url, init = {}) => {
    asked.push({ url: String(url), init })
    return answer(init.signal ?? new AbortController().signal)
  }
  return { fetch, asked }
}
const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status })
const never = (signal: AbortSignal) =>
  new Promise<Response>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
const to = (
  fetch: typeof globalThis.fetch,
  more: { signal?: AbortSignal; timeoutMs?: number; token?: string } = {},
) => ({
  fetch,
  token: more.token ?? null,
  signal: more.signal ?? new AbortController().signal,
  newId: () => 'id-1',
  timeoutMs: more.timeoutMs ?? 30_000,
})

describe('a call', () => {
  // Holds contract 7.1a.
  test('carries the token, and what is written a key by which it is written once', async () => {
    const { fetch, asked } = server(() => json(201, { ok: true }))
    await request({ ...call, method: 'POST', body: { a: 1 } }, to(fetch, { token: 't0k' }))
    const headers = new Headers(asked[0]?.init.headers)
    expect(asked[0]?.url).toBe('/api/tasks')
    expect(headers.get('authorization')).toBe('Bearer t0k')
    expect(headers.get('idempotency-key')).toBe('id-1')
    expect(asked[0]?.init.body).toBe('{"a":1}')
  })

  test('leaves out of the address what was not given', async () => {
    const { fetch, asked } = server(() => json(200, {}))
    await request({ ...call, query: { limit: 10, project: 'a&b', minPosition: undefined } }, to(fetch))
    expect(asked[0]?.url).toBe('/api/tasks?limit=10&project=a%26b')
    expect(new Headers(asked[0]?.init.headers).has('idempotency-key')).toBe(false)
  })

  test('shows what the server says is wrong', async () => {
    const { fetch } = server(() =>
      json(422, { error: 'The name is taken.', code: 'already_exists', field: 'name' }),
    )
    expect(await request(call, to(fetch))).toEqual({
      error: { status: 422, code: 'already_exists', message: 'The name is taken.', field: 'name' },
    })
  })

  test('github 3.4: says when to ask again where the server does, of what was refused for a limit', async () => {
    const limited = (status: number) =>
      server(() => new Response('{"error":"Wait."}', { status, headers: { 'retry-after': '60' } })).fetch
    const before = Date.now()
    const answer = await request(call, to(limited(429)))
    const retryAt = 'error' in answer ? (answer.error.retryAt ?? 0) : 0
    expect(retryAt - before).toBeGreaterThanOrEqual(60_000)
    expect(retryAt - Date.now()).toBeLessThanOrEqual(60_000)
    expect(await request(call, to(limited(503)))).not.toHaveProperty('error.retryAt')
  })

  test('says its own sentence when the server gives no reason', async () => {
    for (const answer of [() => json(500, {}), () => new Response('<h1>Bad gateway</h1>', { status: 502 })]) {
      expect(await request(call, to(server(answer).fetch))).toMatchObject({
        error: { message: 'Failed to fetch tasks' },
      })
    }
  })

  test('takes no page for an answer', async () => {
    const { fetch } = server(() => new Response('<html>', { status: 200 }))
    expect(await request(call, to(fetch))).toMatchObject({ error: { code: 'unreadable' } })
  })

  test('ends when it takes too long', async () => {
    const { fetch } = server(never)
    expect(await request(call, to(fetch, { timeoutMs: 20 }))).toMatchObject({
      error: { status: null, code: 'timeout' },
    })
  })

  test('ends when nobody wants it any more', async () => {
    const page = new AbortController()
    const answer = request(call, to(server(never).fetch, { signal: page.signal }))
    page.abort()
    expect(await answer).toMatchObject({ error: { code: 'aborted' } })
  })

  test('tells a server that is not reached from one that refuses', async () => {
    const { fetch } = server(() => Promise.reject(new TypeError('Failed to fetch')))
    expect(await request(call, to(fetch))).toMatchObject({ error: { status: null, code: 'offline' } })
  })
})
