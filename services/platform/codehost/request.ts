/**
 * Requests to the code host. Each has a time limit. A read that fails is retried once, unless it timed out or the host refused it. While the host
 * wants the holder of a token to wait, no request is sent with the holder's tokens. Faults are thrown as `CodeHostFault`.
 */
import { createHash } from 'node:crypto'
import { Octokit } from '@octokit/rest'
import type { Octokit as Core } from '@octokit/core'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Bus, BusMessages } from '#platform/ports/bus.ts'
import { CodeHostFault, type RepositoryName } from '#platform/ports/codeHost.ts'
import { checkedName } from './address.ts'
import { Refusal } from './responseSchemas.ts'
import { acceptedPermissions, missingSentence, credentials, type Credential } from '#domain/appPermissions.ts'

const timeLimitMs = 15_000
const pauseBeforeRetryMs = 200
/** The rate limits of GitHub end within a day. A longer wait was asked for by a proxy or by mistake, and is cut to a day. */
const longestWaitMs = 86_400_000
/** The wait when the host only says that requests come too fast. */
const defaultWaitMs = 60_000

/** The REST API version that this code is written for; without the header, a host uses its default version. */
const apiVersion = '2022-11-28'

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

export interface Requests {
  /** Returns an octokit with a token, or without one. */
  octokit(accessToken: string | undefined): Octokit
  /** Returns an octokit without a token, for code that authenticates each request. Its requests do not wait for one another. */
  unpaced(): Octokit
  /** Sets the holder of a token. Rate limits and waits are tracked per holder. */
  nameHolder(accessToken: string, holder: string): void
  /**
   * The rate limit of the token's holder, as last reported. While the host asks the holder to wait, `remaining` is 0. Otherwise `undefined` before
   * the first report.
   */
  allowance(accessToken: string): Allowance | undefined
  /**
   * How many ms the token's holder has to wait because the host asked for it; 0 when it did not. With `ofGit`, an exhausted limit of the API does not
   * count, since it does not affect git.
   */
  waitMs(accessToken: string, how?: { readonly ofGit?: boolean }): number
  /**
   * Records that the host asked the token's holder to wait, for example in an answer to git or to another process. Without a time, the wait is a
   * minute.
   */
  recordWait(accessToken: string, waitMs?: number): void
  /** Sends an OAuth request, which counts for no holder's limit and has a separate wait. */
  postForm(url: string, form: Readonly<Record<string, string>>): Promise<unknown>
}

export interface Allowance {
  readonly limit: number
  readonly remaining: number
  /** When the limit resets, in ms since the epoch. */
  readonly resetsAt: number
}

export interface RequestsOptions {
  readonly apiUrl: string
  /** The base URL of the host's pages. Only links to these pages are shown to people. */
  readonly serverUrl: string
  /** Whether people's requests use `GITHUB_TOKEN` instead of an App. */
  readonly hasOwnToken?: boolean
  readonly bus?: Pick<Bus, 'publish' | 'subscribe'>
  /** Whether to send writes at the pace that GitHub requires: one second apart, and three seconds if they notify people. */
  readonly paced: boolean
  /** Called for each attempt that the host answered. */
  readonly onSpent?: (spent: {
    readonly holder: string
    readonly method: string
    readonly path: string
  }) => void
}

/** The most holders that are tracked, which is more than are active at once. Beyond that, the holder that was idle longest is dropped. */
const maxHolders = 2_000

export function requestsTo({
  apiUrl,
  serverUrl,
  paced,
  hasOwnToken = false,
  onSpent,
  bus,
}: RequestsOptions): Requests {
  const holders = new LRUCache<string, string>({ max: maxHolders })
  const left = new LRUCache<string, Allowance>({ max: maxHolders })
  const waits = new LRUCache<string, number>({ max: maxHolders })
  const holderOf = (token: string | undefined) =>
    token === undefined ? 'nobody' : (holders.get(keyOf(token)) ?? `token:${keyOf(token)}`)
  const waitUntil = (holder: string) => Math.max(waits.get(holder) ?? 0, Date.now())
  // Keeps the longest wait, since concurrent requests may be told different waits.
  const keepWait = ({ holder, until }: BusMessages['hostWait']) => {
    if (until > waitUntil(holder)) waits.set(holder, until)
  }
  bus?.subscribe('hostWait', keepWait)
  function recordWait(holder: string, waitMs: number): void {
    const wait = { holder, until: Date.now() + Math.min(waitMs, longestWaitMs) }
    keepWait(wait)
    bus?.publish('hostWait', wait)
  }
  const fetchAs =
    (holder: string) =>
    async (url: string, init: RequestInit): Promise<Response> => {
      const counted = `${holder} ${limitOf(url)}`
      const waitMs = Math.max(waitUntil(holder), waitUntil(counted)) - Date.now()
      if (waitMs > 0) return responseWhileWaiting(waitMs)
      const response = await withRetryAfter(await limitedFetch(url, init))
      onSpent?.({ holder, method: init.method ?? 'GET', path: new URL(url).pathname })
      const allowance = allowanceIn(response.headers)
      if (allowance) left.set(holder, allowance)
      const pauseMs = pauseIn(url, response)
      if (pauseMs !== undefined) recordWait(holder, pauseMs)
      // An exhausted limit blocks only the requests that count towards it.
      else if (allowance?.remaining === 0) recordWait(counted, allowance.resetsAt - Date.now())
      return response
    }
  function octokitOf(holder: string, auth: string | undefined, isPaced: boolean): Octokit {
    const requester: Requester = { serverUrl, credential: credentialOf(holder, hasOwnToken) }
    const octokit = new LimitedOctokit({
      baseUrl: apiUrl,
      userAgent: 'flightdeck',
      log: silent,
      request: { fetch: fetchAs(holder) },
      retry: { retries: 1, retryAfterBaseValue: pauseBeforeRetryMs, doNotRetry: clientErrorStatuses },
      // The throttling plugin has a queue per holder. Instead of waiting there until a limit resets, requests fail and say how long to wait.
      throttle: {
        enabled: isPaced,
        id: `${apiUrl} ${holder}`,
        onRateLimit: () => false,
        onSecondaryRateLimit: () => false,
      },
      ...(auth === undefined ? {} : { auth }),
    })
    octokit.hook.error('request', (error) => {
      throw Object.assign(error, { requester })
    })
    return octokit
  }
  return {
    octokit: (accessToken) => octokitOf(holderOf(accessToken), accessToken, paced),
    unpaced: () => octokitOf('app', undefined, false),
    nameHolder: (accessToken, holder) => void holders.set(keyOf(accessToken), holder),
    allowance: (accessToken) => {
      const holder = holderOf(accessToken)
      const [known, resetsAt] = [left.get(holder), waitUntil(holder)]
      return resetsAt > Date.now() ? { limit: known?.limit ?? 1, remaining: 0, resetsAt } : known
    },
    waitMs: (accessToken, { ofGit = false } = {}) => {
      const holder = holderOf(accessToken)
      const until = Math.max(waitUntil(holder), ofGit ? 0 : waitUntil(`${holder} core`))
      return until - Date.now()
    },
    recordWait: (accessToken, waitMs = defaultWaitMs) => recordWait(holderOf(accessToken), waitMs),
    postForm: (url, form) => postForm(fetchAs('oauth'), url, form),
  }
}

function credentialOf(holder: string, hasOwnToken: boolean): Credential {
  if (holder === 'app') return 'app_key'
  if (holder.startsWith('installation:')) return 'installation'
  return hasOwnToken ? 'own_token' : 'person'
}

function limitOf(url: string): string {
  const { pathname } = new URL(url)
  return /\/(graphql|rate_limit)$/.exec(pathname)?.[1] ?? (pathname.includes('/search/') ? 'search' : 'core')
}

const responseWhileWaiting = (waitMs: number): Response =>
  Response.json(
    { message: 'The wait is not over.' },
    { status: 429, headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) } },
  )

/** The key under which a token is tracked. Tokens are stored only where they are used, so the key is a hash. */
const keyOf = (token: string): string => createHash('sha256').update(token).digest('base64url').slice(0, 22)

function allowanceIn(headers: Headers): Allowance | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  )
  // Searches have a separate small limit. It is not tracked, so the headers of a search are ignored.
  if (headers.get('x-ratelimit-resource') === 'search') return undefined
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  return [limit, remaining, reset].every((value) => Number.isFinite(value))
    ? { limit, remaining, resetsAt: Math.min(reset * 1_000, Date.now() + longestWaitMs) }
    : undefined
}

/**
 * How many ms the holder of the request's token must pause because of one of GitHub's 'secondary' limits; `undefined` when the response asks for no
 * pause. A status 429 without `retry-after` means a minute.
 */
function pauseIn(url: string, { status, headers }: Response): number | undefined {
  // A refusal has status 403 or 429, or 200 in GraphQL. With another status, `retry-after` is about the resource, or about an unavailable host.
  const isRefusal = status === 403 || status === 429 || (status === 200 && url.endsWith('/graphql'))
  const after = headers.get('retry-after')
  if (!isRefusal || (after === null && status !== 429)) return undefined
  return retryAfterMs({ 'retry-after': after }) ?? defaultWaitMs
}

/**
 * The response; for a refusal that names a secondary limit but no time to wait, with a `retry-after` of the minute that GitHub's documentation then
 * asks for.
 */
async function withRetryAfter(response: Response): Promise<Response> {
  const { status } = response
  const headers = new Headers(response.headers)
  const saysWhen = headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
  if (status !== 403 || saysWhen) return response
  const body = await response.text()
  if (/secondary rate limit|abuse detection/i.test(body))
    headers.set('retry-after', String(defaultWaitMs / 1_000))
  return new Response(body, { status, headers })
}

const clientErrorStatuses = Array.from({ length: 100 }, (_, index) => 400 + index)

interface Requester {
  readonly serverUrl: string
  readonly credential: Credential
}

/**
 * Keeps the retry plugin from repeating writes, and from repeating anything after a timeout, because waiting twice takes too long. This plugin must
 * be registered first, so that the hooks of the retry plugin see the changed options.
 */
function readsOnly(octokit: Core): object {
  octokit.hook.before('request', (request) => {
    if (request.method !== 'GET') request.request = { ...request.request, retries: 0 }
  })
  octokit.hook.error('request', (error, request) => {
    if (isTimeout(error)) request.request = { ...request.request, retries: 0 }
    throw error
  })
  return {}
}

const LimitedOctokit = Octokit.plugin(readsOnly, retry, throttling)

/** A `fetch` with a time limit for each attempt. The limit is not set in a hook, because octokit drops changes by hooks when a token is used. */
function limitedFetch(url: string, { headers, ...init }: RequestInit): Promise<Response> {
  const named = new Headers(headers)
  named.set('x-github-api-version', apiVersion)
  return fetch(url, { ...init, headers: named, signal: AbortSignal.timeout(timeLimitMs) })
}

/** Calls that are made with a token. */
export type TokenCalls = ReturnType<typeof callsOf>

export function callsOf(octokit: (accessToken: string) => Octokit) {
  return {
    octokit,
    /** Returns the REST calls, and the parameters that name the repository. Throws CodeHostFault `not_found` for an invalid name. */
    on(accessToken: string, repository: RepositoryName) {
      const { owner, name: repo } = checkedName(repository)
      return { rest: octokit(accessToken).rest, at: { owner, repo } }
    },
  }
}

/** Sends the request `call` and parses its data with `schema`. Throws CodeHostFault. */
export async function ask<Data>(
  schema: z.ZodType<Data>,
  call: () => Promise<{ readonly data: unknown }>,
): Promise<Data> {
  const answer = await call().catch((error: unknown) => {
    throw faultOf(error)
  })
  return parsed(schema, answer.data)
}

/** Like `ask`, for data whose ETag is known; returns `unchanged` if the data still has that ETag. */
export async function askIfChanged<Data>(
  schema: z.ZodType<Data>,
  etag: string | undefined,
  call: (
    headers: Record<string, string>,
  ) => Promise<{ readonly data: unknown; readonly headers: { readonly etag?: string | undefined } }>,
): Promise<{ readonly data: Data; readonly etag: string | null } | 'unchanged'> {
  try {
    const { data, headers } = await call(etag === undefined ? {} : { 'if-none-match': etag })
    return { data: parsed(schema, data), etag: headers.etag ?? null }
  } catch (error) {
    // Octokit throws for status 304 too.
    if (error instanceof Error && 'status' in error && error.status === 304) return 'unchanged'
    throw faultOf(error)
  }
}

function parsed<Data>(schema: z.ZodType<Data>, data: unknown): Data {
  const read = schema.safeParse(data)
  if (!read.success) throw misunderstood(read.error)
  return read.data
}

/** For a `catch`: returns the fallback when the host says that something does not exist, or that this token may not see it. */
export const ifHidden =
  <Fallback>(fallback: Fallback) =>
  (fault: unknown): Fallback => {
    if (fault instanceof CodeHostFault && ['not_found', 'forbidden'].includes(fault.kind)) return fallback
    throw fault
  }

export const misunderstood = (cause: unknown): CodeHostFault =>
  new CodeHostFault('unavailable', 'GitHub sent a response that Flightdeck does not understand.', cause)

/** Posts a form to an OAuth address and returns its JSON. The CodeHostFault that it may throw contains no secrets. */
async function postForm(
  fetchIt: (url: string, init: RequestInit) => Promise<Response>,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<unknown> {
  const response = await fetchIt(url, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams(form),
    redirect: 'error',
  }).catch(() => {
    throw unreachable()
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  throw refused(response.status, new Headers(response.headers), answer, undefined)
}

/** The fields of octokit's errors that are read. The errors also contain requests with tokens, so they must not be passed on. */
const HttpError = z.object({
  status: z.number(),
  response: z.object({ headers: z.record(z.string(), z.unknown()).catch({}), data: z.unknown() }).optional(),
  requester: z.object({ serverUrl: z.string(), credential: z.enum(credentials) }).optional(),
})

const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  (['TimeoutError', 'AbortError'].includes(error.name) ||
    (error.cause !== undefined && isTimeout(error.cause)))

/** Converts octokit's errors and timeouts to CodeHostFault; returns anything else unchanged. */
export function faultOf(error: unknown): unknown {
  const read = HttpError.safeParse(error)
  if (!read.success) return isTimeout(error) ? unreachable() : error
  const { status, response, requester } = read.data
  if (!response) return unreachable()
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return refused(status, headers, response.data, requester)
}

export const unreachable = (): CodeHostFault => new CodeHostFault('unavailable', sentences.unavailable)

/** Sentences that replace short messages of the host, such as 'Not Found' and 'Bad credentials'. */
export const sentences: Readonly<Record<CodeHostFault['kind'], string>> = {
  unauthorized: 'GitHub no longer accepts your sign-in. Connect your GitHub account again in Settings.',
  not_found: "GitHub can't find this, or your account has no access to it.",
  rate_limited: "GitHub's rate limit is used up. Try again later.",
  unavailable: "GitHub can't be reached. Try again later.",
  forbidden: 'GitHub does not allow this.',
  invalid: 'GitHub refused the request.',
}

const unauthorizedSentences: Readonly<Record<Credential, string>> = {
  person: sentences.unauthorized,
  own_token:
    'GitHub no longer accepts the token in GITHUB_TOKEN. Start the server with a new one, and connect GitHub again in Settings.',
  installation: "GitHub does not accept the token of the App's installation. Try again.",
  app_key: 'GitHub does not accept the private key of the App, or no longer knows the App.',
}

const notShown = (holder: string): string => `GitHub can't find this, or ${holder} has no access to it.`
const notFound: Readonly<Record<Credential, string>> = {
  person: sentences.not_found,
  own_token: notShown('the token in GITHUB_TOKEN'),
  installation: notShown("Flightdeck's App"),
  app_key: notShown("Flightdeck's App"),
}

function refused(
  status: number,
  headers: Headers,
  data: unknown,
  requester: Requester | undefined,
): CodeHostFault {
  const kind = kindOf(status, headers)
  const said = sentenceOf(data) ?? `It answered with status ${status}`
  switch (kind) {
    case 'invalid':
      return new CodeHostFault(kind, said)
    case 'forbidden':
      return forbidden(said, headers, requester)
    case 'rate_limited':
      return limited(retryAfterMs(Object.fromEntries(headers)))
    case 'unauthorized':
      return new CodeHostFault(kind, unauthorizedSentences[requester?.credential ?? 'person'])
    case 'not_found':
      return new CodeHostFault(kind, notFound[requester?.credential ?? 'person'])
    case 'unavailable':
      return new CodeHostFault(kind, sentences[kind])
  }
}

/** The fault for an exhausted limit, or for requests that come too fast, with the time to wait: a minute if the host gives none. */
export function limited(waitMs: number | undefined, cause?: unknown, now = Date.now()): CodeHostFault {
  if (waitMs === undefined)
    return new CodeHostFault('rate_limited', sentences.rate_limited, cause, defaultWaitMs)
  // Rounds up to a full minute, so that nobody tries again too early.
  const until = Math.ceil((now + waitMs) / 60_000) * 60_000
  // For a wait of less than a day, a time such as `14:30 UTC` is unambiguous without a date.
  const words =
    until - now < longestWaitMs
      ? `until ${new Date(until).toISOString().slice(11, 16)} UTC`
      : 'for about a day or longer'
  return new CodeHostFault('rate_limited', `GitHub asks us to wait ${words}.`, cause, waitMs)
}

function forbidden(said: string, headers: Headers, requester: Requester | undefined): CodeHostFault {
  const signOn = requester && signOnLink(headers.get('x-github-sso'), requester.serverUrl)
  if (signOn)
    return new CodeHostFault(
      'forbidden',
      `The organization wants this access to be authorized by its single sign-on. Open ${signOn}, then try again.`,
    )
  const missing = acceptedPermissions(headers.get('x-accepted-github-permissions'))
  // Tokens of people are also limited by the App's permissions.
  if (!/not accessible by (integration|personal access token)/i.test(said) || missing.length === 0)
    return new CodeHostFault('forbidden', `GitHub does not allow this: ${said}.`)
  const credential = /by personal access token/i.test(said)
    ? 'own_token'
    : (requester?.credential ?? 'person')
  const fault = new CodeHostFault('forbidden', missingSentence(missing, credential))
  return Object.assign(fault, { missing })
}

/**
 * The address of an organization's single sign-on, from a header `required; url=https://...`. Accepted only with https and at the code host itself.
 */
function signOnLink(header: string | null, serverUrl: string): string | undefined {
  const [, address = ''] = /(?:^|;)\s*url=(\S+)/.exec(header ?? '') ?? []
  if (!URL.canParse(address)) return undefined
  const { protocol, origin, href } = new URL(address)
  return protocol === 'https:' && origin === new URL(serverUrl).origin ? href : undefined
}

function kindOf(status: number, headers: Headers): CodeHostFault['kind'] {
  const isLimited = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')
  if (status === 429 || (status === 403 && isLimited)) return 'rate_limited'
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410 || status === 451) return 'not_found'
  return status < 500 ? 'invalid' : 'unavailable'
}

/** How many ms the host asks us to wait, at most a day: by `retry-after`, or until the limit resets if it is exhausted. */
export function retryAfterMs(
  headers: Readonly<Record<string, unknown>>,
  now = Date.now(),
): number | undefined {
  const numberOf = (name: string) => (headers[name] === undefined ? Number.NaN : Number(headers[name]))
  const [remaining, reset] = [numberOf('x-ratelimit-remaining'), numberOf('x-ratelimit-reset')]
  const untilReset = remaining === 0 && Number.isFinite(reset) ? reset * 1_000 - now : undefined
  const ms = waitOf(String(headers['retry-after'] ?? ''), now) ?? untilReset
  return ms === undefined ? undefined : Math.min(Math.max(0, ms), longestWaitMs)
}

/** The value of `retry-after` in ms. The header has seconds or an HTTP date. */
function waitOf(after: string, now: number): number | undefined {
  if (/^\d+$/.test(after)) return Number(after) * 1_000
  const until = after.endsWith(' GMT') ? Date.parse(after) : Number.NaN
  return Number.isNaN(until) ? undefined : until - now
}

function sentenceOf(data: unknown): string | undefined {
  const read = Refusal.safeParse(data)
  if (!read.success) return undefined
  const reasons = (read.data.errors ?? []).flatMap((error) => {
    if (typeof error === 'string') return [error]
    return error.message ?? (error.field === undefined ? [] : [`${error.field} is not valid`])
  })
  const message = read.data.message.replace(/[.:]+$/, '')
  return reasons.length === 0 ? message : `${message}: ${reasons.join('; ')}`
}
