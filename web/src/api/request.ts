/** One call to `/api`: JSON in and out, a bearer token if there is one, a time-out of 30 s. Never throws. */
import type { Method } from '#domain/api/route.ts'
import type { Answer } from './prefetched.ts'
import { callTimeoutMs } from './callTimeout.ts'
import type { ApiFault } from './fault.ts'

export interface ApiCall {
  readonly method: Method
  /** The path below `/api`, with encoded parts. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  /** For a write that may be retried: the server executes it once per key. */
  readonly key?: string
  /** The request continues when the page is closed. */
  readonly keepalive?: boolean
  /** The message when the server gives no reason. */
  readonly fallback: string
}

export type ApiAnswer = { readonly data: unknown } | { readonly error: ApiFault }

interface Collaborators {
  readonly fetch: (address: string, init: RequestInit) => Promise<Answer>
  readonly token: string | null
  /** Aborts the call when the page no longer needs it. */
  readonly signal: AbortSignal
  readonly newId: () => string
  readonly timeoutMs?: number
}

export async function request(call: ApiCall, to: Collaborators): Promise<ApiAnswer> {
  const { method } = call
  const late = AbortSignal.timeout(to.timeoutMs ?? callTimeoutMs)
  const headers = new Headers({ accept: 'application/json' })
  if (to.token !== null) headers.set('authorization', `Bearer ${to.token}`)
  if (call.body !== undefined) headers.set('content-type', 'application/json')
  // The server executes a POST once per key, however often it arrives. Repeating other methods does no harm.
  if (method === 'POST') headers.set('idempotency-key', call.key ?? to.newId())
  const failed = (status: number | null, code: string): ApiAnswer => ({
    error: { status, code, message: call.fallback, field: null },
  })
  try {
    const response = await to.fetch(addressOf(call), {
      method,
      headers,
      keepalive: call.keepalive ?? false,
      signal: AbortSignal.any([to.signal, late]),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    })
    const answer = answerOf(response.status, await response.text(), call.fallback)
    const seconds = Number(response.headers?.get('retry-after') ?? Number.NaN)
    const waits = response.status === 429 && 'error' in answer && seconds > 0
    return waits ? { error: { ...answer.error, retryAt: Date.now() + seconds * 1_000 } } : answer
  } catch {
    return failed(null, late.aborted ? 'timeout' : to.signal.aborted ? 'aborted' : 'offline')
  }
}

/** The result for this status and body; `fallback` is the message when the server gives no reason. */
export function answerOf(status: number, text: string, fallback: string): ApiAnswer {
  const answer = parsed(text)
  if (status < 200 || status > 299) return { error: faultOf(status, answer, fallback) }
  if (answer !== undefined) return { data: answer }
  return { error: { status, code: 'unreadable', message: fallback, field: null } }
}

/** The address of a call, with its query. */
export function addressOf({ path, query }: Pick<ApiCall, 'path' | 'query'>): string {
  return `/api${path}${queryOf(query)}`
}

function queryOf(query: ApiCall['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}

/** The parsed body, `null` for an empty one, `undefined` for invalid JSON. */
function parsed(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function faultOf(status: number, answer: unknown, fallback: string): ApiFault {
  const said = typeof answer === 'object' && answer !== null ? answer : {}
  return {
    status,
    code: 'code' in said && typeof said.code === 'string' ? said.code : 'unknown',
    message: 'error' in said && typeof said.error === 'string' && said.error !== '' ? said.error : fallback,
    field: 'field' in said && typeof said.field === 'string' ? said.field : null,
  }
}
