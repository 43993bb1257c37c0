/** One call to `/api`: JSON in and out, a bearer token if there is one, a time-out of 30 s by default. Never rejects: a failure is an `error`. */
import type { Method } from '#domain/api/route.ts'
import { type Answer, callTimeoutMs } from './prefetched.ts'
import { tryOr } from '../state/tryOr.ts'
import type { ApiFault } from './fault.ts'
import { textOf } from './memberOf.ts'
import { newId } from './newId.ts'

export interface ApiCall {
  readonly method: Method
  /** The path below `/api`, with encoded parts. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
  /** The idempotency key of a POST that may be sent again: the server executes it once per key. Without a given key, each call gets a new one. */
  readonly key?: string | undefined
  /** Whether the request continues when the page is closed. */
  readonly keepalive?: boolean
  /** The message when the server gives no reason. */
  readonly fallback: string
}

export type ApiAnswer = { readonly data: unknown } | { readonly error: ApiFault }

interface RequestOptions {
  readonly token: string | null
  /** Aborts the call when the page no longer needs it. */
  readonly signal?: AbortSignal
  /** Defaults to the browser's `fetch`. */
  readonly fetch?: (address: string, init: RequestInit) => Promise<Answer>
  readonly newId?: () => string
  readonly timeoutMs?: number
}

export async function request(
  call: ApiCall,
  { token, signal, ...options }: RequestOptions,
): Promise<ApiAnswer> {
  const { method } = call
  const send = options.fetch ?? fetch
  const timeout = AbortSignal.timeout(options.timeoutMs ?? callTimeoutMs)
  const headers = new Headers({ accept: 'application/json' })
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  if (call.body !== undefined) headers.set('content-type', 'application/json')
  // The server executes a POST once per key, however often it arrives. Repeating other methods does no harm.
  if (method === 'POST') headers.set('idempotency-key', call.key ?? (options.newId ?? newId)())
  try {
    const response = await send(addressOf(call), {
      method,
      headers,
      keepalive: call.keepalive ?? false,
      signal: AbortSignal.any(signal === undefined ? [timeout] : [signal, timeout]),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    })
    const answer = answerOf(response.status, await response.text(), call.fallback)
    const seconds = Number(response.headers?.get('retry-after') ?? Number.NaN)
    const waits = response.status === 429 && 'error' in answer && seconds > 0
    return waits ? { error: { ...answer.error, retryAt: Date.now() + seconds * 1_000 } } : answer
  } catch {
    const code = timeout.aborted ? 'timeout' : signal?.aborted ? 'aborted' : 'offline'
    return { error: { status: null, code, message: call.fallback, field: null } }
  }
}

/** The result for this status and body; `fallback` is the message when the server gives no reason. */
export function answerOf(status: number, text: string, fallback: string): ApiAnswer {
  // Without a body the answer is `null`; it is `undefined` for invalid JSON.
  const answer = text === '' ? null : tryOr<unknown>(() => JSON.parse(text), undefined)
  if (status < 200 || status > 299) return { error: faultOf(status, answer, fallback) }
  if (answer !== undefined) return { data: answer }
  return { error: { status, code: 'unreadable', message: fallback, field: null } }
}

/** The address of a call, with its query. */
export function addressOf({ path, query }: Pick<ApiCall, 'path' | 'query'>): string {
  return `/api${path}${queryOf(query)}`
}

function queryOf(query: ApiCall['query'] = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`
}

function faultOf(status: number, answer: unknown, fallback: string): ApiFault {
  return {
    status,
    code: textOf(answer, 'code') ?? 'unknown',
    message: textOf(answer, 'error') || fallback,
    field: textOf(answer, 'field') ?? null,
  }
}

/** Makes a call that needs no session, for `queryFn`. The answer has the type that the contract of the call promises. */
export async function openCall<Data>(
  call: ApiCall,
  options: { readonly token: string | null; readonly signal: AbortSignal },
): Promise<{ data: Data } | { error: ApiFault }> {
  const answer = await request(call, options)
  return 'error' in answer ? answer : { data: answer.data as Data }
}
