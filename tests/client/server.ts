/** A server for tests of the client: it gives the answers of the test, and records the requests. */
import { onTestFinished, vi } from 'vitest'

/** A request that was received; `path` is below `/api`. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
  readonly authorization: string | null
  /** The idempotency key, if there is one. */
  readonly key: string | null
}

/** The answer to each call, by method and path (`GET /tasks`): the body of a 200, a `Response`, a promise of either, or a function that makes one. */
export type Answers = Readonly<Record<string, unknown>>

export interface FakeServer {
  /** All requests so far, in order. */
  readonly asked: readonly Asked[]
  /** The requests with this method and path, such as `GET /tasks`. */
  of(call: string): readonly Asked[]
  /** Changes some answers from now on. */
  answer(answers: Answers): void
}

/** Replaces the network until the test is finished. A request without an answer gets a 404. */
export function fakeServer(answers: Answers): FakeServer {
  let known: Answers = answers
  const asked: Asked[] = []
  vi.stubGlobal('fetch', async (address: string | URL, init: RequestInit = {}) => {
    const url = new URL(address, 'http://localhost')
    const headers = new Headers(init.headers)
    const call: Asked = {
      method: init.method ?? 'GET',
      path: url.pathname.replace(/^\/api/, ''),
      query: Object.fromEntries(url.searchParams),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      authorization: headers.get('authorization'),
      key: headers.get('idempotency-key'),
    }
    asked.push(call)
    const told: unknown = known[nameOf(call)]
    const answer: unknown = await (typeof told === 'function' ? told(call) : told)
    if (answer instanceof Response) return answer
    return answer === undefined ? refusal(404, `Nobody answers ${nameOf(call)}.`) : json(200, answer)
  })
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  return {
    asked,
    of: (call) => asked.filter((one) => nameOf(one) === call),
    answer: (more) => void (known = { ...known, ...more }),
  }
}

export function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status })
}

/** A refusal with the server's message, or without one: the client then uses its own. */
export function refusal(status: number, error?: string, code = 'refused'): Response {
  return json(status, error === undefined ? {} : { error, code })
}

function nameOf({ method, path }: Asked): string {
  return `${method} ${path}`
}
