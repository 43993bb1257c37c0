/** Limits that protect the server: request rates, body types, bursts, and connections without a signed-in person. */
import type { Context, Middleware } from 'koa'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { Fault } from '#domain/kernel/errors.ts'
import { networkOf } from '#platform/http/clientNetwork.ts'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Counts a request under a name. Throws `rate_limited` with the seconds to wait when there are too many. */
export type Rate = (name: string) => Promise<void>

const windowSeconds = 60

/** Allows `requestsAMinute` requests a minute. Each gateway counts its own requests. `null` means no limit. */
export function rate(requestsAMinute: number | null): Rate {
  if (requestsAMinute === null) return async () => undefined
  const limiter = new RateLimiterMemory({ points: requestsAMinute, duration: windowSeconds })
  return async (name) => {
    try {
      await limiter.consume(name)
    } catch (thrown) {
      if (!(thrown instanceof RateLimiterRes)) throw thrown
      const seconds = Math.ceil(thrown.msBeforeNext / 1_000)
      const sentence = `Too many requests: more than ${requestsAMinute} in a minute. Try again in ${seconds} s.`
      throw new Fault('rate_limited', sentence, undefined, { retryAfterSeconds: seconds })
    }
  }
}

/** Limits requests before the person is known, by their address, which several people may share. */
export function limitAddresses(allowed: Rate): Middleware {
  return async (context, next) => {
    await allowed(networkOf(context.ip))
    await next()
  }
}

/** Limits requests by person. Runs after `authenticate`. */
export function limitPeople(allowed: Rate): Middleware {
  return async (context, next) => {
    const userId: string | undefined = context.state.identity?.userId
    if (userId !== undefined) await allowed(userId)
    await next()
  }
}

/**
 * Refuses a body with another media type than JSON instead of ignoring it. Requests for which `elsewhere` is true are skipped: their route reads the
 * body.
 */
export function onlyJson(elsewhere: (context: Context) => boolean): Middleware {
  return async (context, next) => {
    const hasBody = (context.request.length ?? 0) > 0 || context.get('transfer-encoding') !== ''
    if (hasBody && !elsewhere(context) && !context.is('json')) throw new Fault('unsupported_type')
    await next()
  }
}

/** Starts at most `aTurn` requests in a turn of the event loop, so that other work gets its turn during a burst of requests. */
export function spreadBursts(aTurn: number): Middleware {
  let waiting: (() => void)[] = []
  let begun = 0
  const turn = () => {
    const next = waiting.slice(0, aTurn)
    waiting = waiting.slice(aTurn)
    begun = next.length
    if (begun > 0) setImmediate(turn)
    for (const begin of next) begin()
  }
  return async (_context, next) => {
    if (begun >= aTurn) await new Promise<void>((begin) => waiting.push(begin))
    else {
      if (begun === 0) setImmediate(turn)
      begun += 1
    }
    await next()
  }
}

/** Connections on which nobody has signed in yet, by address. */
export interface Strangers<One> {
  /** Whether one more connection may come from the address. */
  mayCome(address: string): boolean
  came(one: One, address: string): void
  /** Stops counting a connection because somebody has signed in on it, or because it is closed. */
  gone(one: One): void
}

export interface StrangersLimit {
  readonly ofAddress: number
  /** Whether the gateway is behind proxies. All connections then come from the addresses of the proxies, so only their total is limited. */
  readonly isProxied: boolean
}

/** The limit for all addresses together is this many times the limit for one address. */
const addresses = 4

export function limitStrangers<One>({ ofAddress, isProxied }: StrangersLimit): Strangers<One> {
  const counts = new Map<string, number>()
  const waiting = new Map<One, string>()
  return {
    mayCome: (address) =>
      waiting.size < ofAddress * addresses &&
      (isProxied || (counts.get(networkOf(address)) ?? 0) < ofAddress),
    came(one, address) {
      const network = networkOf(address)
      counts.set(network, (counts.get(network) ?? 0) + 1)
      waiting.set(one, network)
    },
    gone(one) {
      const network = waiting.get(one)
      if (network === undefined) return
      waiting.delete(one)
      const left = (counts.get(network) ?? 1) - 1
      if (left > 0) counts.set(network, left)
      else counts.delete(network)
    },
  }
}

/** Closes connections beyond the limits. Call `gone` when somebody has signed in on a connection. */
export function limitConnections(http: Server, limit: StrangersLimit): Pick<Strangers<Socket>, 'gone'> {
  const strangers = limitStrangers<Socket>(limit)
  http.on('connection', (connection: Socket) => {
    const address = connection.remoteAddress ?? ''
    if (!strangers.mayCome(address)) return void connection.destroy()
    strangers.came(connection, address)
    connection.once('close', () => strangers.gone(connection))
  })
  return strangers
}
