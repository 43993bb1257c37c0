/** Limits as on GitHub: a number of requests per hour for each token's holder, and refusals that a test requests. */
import type { Context, Middleware } from 'koa'
import type { Clock } from '#platform/ports/clock.ts'
import { Refusal } from '../../../services/codehost/httpError.ts'
import type { Stores } from './stores.ts'
import { gitPath } from '../../../services/codehost/gitHttp/backend.ts'
import { lfsPath } from '../../../services/codehost/gitHttp/lfs.ts'
import { callerOf } from './callers.ts'

/** Requests per hour; GraphQL is counted separately. */
export interface RateLimits {
  readonly core: number
  readonly graphql: number
}

/** A refusal of the next requests, whatever they are. */
export interface Disturbance {
  readonly status: number
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
  /** How many requests are refused. */
  readonly times: number
  /** Only affects requests whose method and path match, such as `GET /api/v3/user`. */
  readonly of?: RegExp
}

/** GitHub's answer to a client that makes too many requests at once. */
export const secondaryLimit = (retryAfterSeconds: number, times = 1): Disturbance => ({
  status: 403,
  message:
    'You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID.',
  headers: { 'Retry-After': String(retryAfterSeconds) },
  times,
})

export interface Limits {
  /** Counts a request to the REST API or GraphQL, and refuses it when the limit is used up. */
  readonly middleware: Middleware
  /** Answers `GET /rate_limit`, which is not counted. Throws Refusal 404 on a host without limits, like GitHub Enterprise Server. */
  answer(ctx: Context): void
  disturb(disturbance: Disturbance): void
}

const windowMs = 3_600_000
type Resource = keyof RateLimits

interface Window {
  readonly until: number
  readonly used: Record<Resource, number>
}

interface Counting {
  readonly limits: RateLimits | null
  readonly clock: Clock
  readonly windows: Map<string, Window>
  readonly disturbances: { readonly of: Disturbance; left: number }[]
}

const mostHolders = 1_000

/** Without limits (`null`), there are no headers either. */
export function createLimits(limits: RateLimits | null, here: Stores): Limits {
  const counting: Counting = { limits, clock: here.clock, windows: new Map(), disturbances: [] }
  return {
    middleware: async (ctx, next) => {
      if (gitPath.test(ctx.path) || lfsPath.test(ctx.path)) return next()
      refuseDisturbed(counting, ctx)
      const holder = isUncounted(ctx) ? undefined : holderOf(ctx, here)
      if (!limits || holder === undefined) return next()
      const resource = ctx.path === '/api/graphql' ? 'graphql' : 'core'
      const window = windowOf(counting, holder)
      const isOver = window.used[resource] >= limits[resource]
      if (!isOver) window.used[resource] += 1
      ctx.set(headersOf(limits, window, resource))
      if (isOver) throw new Refusal(403, `API rate limit exceeded for ${holder}.`)
      await next()
      if (ctx.status !== 304) return
      window.used[resource] -= 1
      ctx.set(headersOf(limits, window, resource))
    },
    answer: (ctx) => {
      if (!limits) throw new Refusal(404, 'Rate limiting is not enabled.')
      const window = windowOf(counting, holderOf(ctx, here) ?? 'nobody')
      const told = (resource: Resource) => ({ ...figuresOf(limits, window, resource), resource })
      ctx.body = {
        resources: { core: told('core'), search: told('core'), graphql: told('graphql') },
        rate: told('core'),
      }
    },
    disturb: (of) => void counting.disturbances.push({ of, left: of.times }),
  }
}

const isUncounted = ({ path }: Context): boolean => path === '/api/v3/rate_limit' || !path.startsWith('/api/')

function refuseDisturbed({ disturbances }: Counting, ctx: Context): void {
  const hit = disturbances.find(
    ({ of, left }) => left > 0 && (of.of?.test(`${ctx.method} ${ctx.path}`) ?? true),
  )
  if (!hit) return
  hit.left -= 1
  ctx.set({ ...hit.of.headers })
  throw new Refusal(hit.of.status, hit.of.message)
}

/** Tokens of one person share a limit, and so do those of one installation. Requests without a valid token are not counted. */
function holderOf(ctx: Context, here: Stores): string | undefined {
  try {
    const caller = callerOf(ctx, here)
    if (caller.kind === 'nobody') return undefined
    return caller.kind === 'person'
      ? `user ID ${caller.account.id}`
      : `installation ID ${caller.installation.id}`
  } catch (error) {
    // Routes report an invalid token themselves, and App tokens have no limit here.
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function windowOf({ windows, clock }: Counting, holder: string): Window {
  const now = clock.now().getTime()
  const known = windows.get(holder)
  if (known && known.until > now) return known
  const [oldest] = windows.keys()
  if (windows.size >= mostHolders && oldest !== undefined) windows.delete(oldest)
  const fresh = { until: now + windowMs, used: { core: 0, graphql: 0 } }
  windows.set(holder, fresh)
  return fresh
}

function figuresOf(limits: RateLimits, { until, used }: Window, resource: Resource) {
  const limit = limits[resource]
  return {
    limit,
    remaining: limit - used[resource],
    reset: Math.ceil(until / 1000),
    used: used[resource],
  }
}

function headersOf(limits: RateLimits, window: Window, resource: Resource): Record<string, string> {
  const { limit, remaining, reset, used } = figuresOf(limits, window, resource)
  return {
    'X-RateLimit-Limit': String(limit),
    'X-RateLimit-Remaining': String(remaining),
    'X-RateLimit-Reset': String(reset),
    'X-RateLimit-Used': String(used),
    'X-RateLimit-Resource': resource,
  }
}
