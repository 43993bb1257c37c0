/** One request to the code host: a time limit on each, one more try for what only reads, faults in the port's words. */
import { Octokit } from '@octokit/rest'
import { z } from 'zod'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { Refusal } from './answers.ts'

const timeLimitMs = 15_000
const pauseBeforeRetryMs = 200

/** The version of the REST API that we were written for; without it a host answers in whatever version is its default. */
const apiVersion = '2022-11-28'

const silent = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

/** Octokit for one person's token, or for none. */
export function octokitFor(apiUrl: string, accessToken: string | undefined): Octokit {
  const octokit = new Octokit({
    baseUrl: apiUrl,
    userAgent: 'flightdeck',
    log: silent,
    request: { fetch: limitedFetch },
    ...(accessToken === undefined ? {} : { auth: accessToken }),
  })
  octokit.hook.wrap('request', async (request, options) => {
    try {
      return await request(options)
    } catch (error) {
      if (options.method !== 'GET' || !isPassing(error)) throw error
      await pause(pauseBeforeRetryMs)
      return request(options)
    }
  })
  return octokit
}

/** With a time limit of its own for each try. Not in a hook: where a token is used, octokit drops what a hook changes. */
function limitedFetch(url: string, { headers, ...init }: RequestInit): Promise<Response> {
  const named = new Headers(headers)
  named.set('x-github-api-version', apiVersion)
  return fetch(url, { ...init, headers: named, signal: AbortSignal.timeout(timeLimitMs) })
}

/** Asks by `call` and reads the data of the answer by `schema`. Throws CodeHostFault. */
export async function ask<Data>(
  schema: z.ZodType<Data>,
  call: () => Promise<{ readonly data: unknown }>,
): Promise<Data> {
  const answer = await call().catch((error: unknown) => {
    throw faultOf(error)
  })
  const read = schema.safeParse(answer.data)
  if (!read.success) throw misunderstood(read.error)
  return read.data
}

export const misunderstood = (cause: unknown): CodeHostFault =>
  new CodeHostFault('unavailable', 'GitHub sent a response that Flightdeck does not understand.', cause)

/** Posts a form to an OAuth address and answers its JSON. Throws CodeHostFault; secrets stay out of it. */
export async function postForm(url: string, form: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams(form),
    redirect: 'error',
    signal: AbortSignal.timeout(timeLimitMs),
  }).catch(() => {
    throw unreachable()
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer
  throw refused(response.status, new Headers(response.headers), answer)
}

/** What octokit throws, as far as it is looked at. The request in it holds tokens and goes nowhere. */
const HttpError = z.object({
  status: z.number(),
  response: z.object({ headers: z.record(z.string(), z.unknown()).catch({}), data: z.unknown() }).optional(),
})

/** Worth another try: the network failed, or the host for its own reasons. Not when the time was up: two waits are too long. */
function isPassing(error: unknown): boolean {
  const read = HttpError.safeParse(error)
  if (!read.success) return false
  if (read.data.response) return read.data.status >= 500
  return !isTimeout(error)
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error &&
  (['TimeoutError', 'AbortError'].includes(error.name) ||
    (error.cause !== undefined && isTimeout(error.cause)))

/** A CodeHostFault of what octokit throws; anything else as it is. */
export function faultOf(error: unknown): unknown {
  const read = HttpError.safeParse(error)
  if (!read.success) return isTimeout(error) ? unreachable() : error
  const { status, response } = read.data
  if (!response) return unreachable()
  const headers = new Headers(
    Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return refused(status, headers, response.data)
}

const unreachable = (): CodeHostFault => new CodeHostFault('unavailable', sentences.unavailable)

/** What the host says in catchwords, such as 'Not Found' and 'Bad credentials'. */
export const sentences: Readonly<Record<CodeHostFault['kind'], string>> = {
  unauthorized: 'GitHub no longer accepts your sign-in. Connect your GitHub account again in Settings.',
  not_found: "GitHub can't find this, or your account has no access to it.",
  rate_limited: "Your account has reached GitHub's rate limit. Try again later.",
  unavailable: "GitHub can't be reached. Try again later.",
  forbidden: 'GitHub does not allow this.',
  invalid: 'GitHub refused the request.',
}

function refused(status: number, headers: Headers, data: unknown): CodeHostFault {
  const kind = kindOf(status, headers)
  if (kind !== 'invalid' && kind !== 'forbidden')
    return new CodeHostFault(kind, sentences[kind], undefined, retryAfterMs(Object.fromEntries(headers)))
  const said = sentenceOf(data) ?? `It answered with status ${status}`
  return new CodeHostFault(kind, kind === 'invalid' ? said : `GitHub does not allow this: ${said}.`)
}

function kindOf(status: number, headers: Headers): CodeHostFault['kind'] {
  const isLimited = headers.get('x-ratelimit-remaining') === '0' || headers.has('retry-after')
  if (status === 429 || (status === 403 && isLimited)) return 'rate_limited'
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 404 || status === 410 || status === 451) return 'not_found'
  return status < 500 ? 'invalid' : 'unavailable'
}

/** How long the host asks us to wait, in ms: by `retry-after`, or until the limit begins anew once all of it is used. */
export function retryAfterMs(
  headers: Readonly<Record<string, unknown>>,
  now = Date.now(),
): number | undefined {
  const seconds = (name: string) => (headers[name] === undefined ? Number.NaN : Number(headers[name]))
  const [after, remaining, reset] = [
    seconds('retry-after'),
    seconds('x-ratelimit-remaining'),
    seconds('x-ratelimit-reset'),
  ]
  if (Number.isFinite(after)) return Math.max(0, after * 1_000)
  return remaining === 0 && Number.isFinite(reset) ? Math.max(0, reset * 1_000 - now) : undefined
}

/** GitHub's message, with the reasons that it gives in sentences. */
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

const pause = (ms: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, ms)
  })
