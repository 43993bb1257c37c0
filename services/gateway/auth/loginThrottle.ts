/** Slows down password guessing: after some failed attempts, each further failure doubles the time to wait, up to a limit. */
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { Fault } from '#domain/kernel/errors.ts'
import { networkOf } from '#platform/http/clientNetwork.ts'

/** Where an attempt comes from, and the account it is for. An attempt without an account counts for the address alone. */
export interface Trying {
  readonly address: string
  readonly account?: string
}

export interface LoginThrottle {
  /** Throws `rate_limited`, with the time to wait, when attempts on the account or from the address have failed too often. */
  check(trying: Trying): Promise<void>
  failed(trying: Trying): Promise<void>
  /** Records a successful attempt. Forgets the failed attempts of the account, but not those of the address. */
  succeeded(trying: Trying): Promise<void>
}

/** How many attempts may fail, and how long to wait then. Times are in seconds. */
export interface Patience {
  /** How many attempts may fail within `window` before the next attempt has to wait. */
  readonly free: number
  readonly window: number
  readonly firstWait: number
  readonly longestWait: number
}

const quarterOfAnHour = 900
const usual = {
  account: { free: 5, window: quarterOfAnHour, firstWait: 60, longestWait: quarterOfAnHour },
  address: { free: 20, window: quarterOfAnHour, firstWait: 60, longestWait: quarterOfAnHour },
} as const

/** Counts in memory: each gateway counts its own attempts, and a restart begins at zero. */
export function loginThrottle(patience: { account: Patience; address: Patience } = usual): LoginThrottle {
  const accounts = counting(patience.account)
  const addresses = counting(patience.address)
  const counted = ({ address, account }: Trying) => [
    { counts: addresses, key: networkOf(address) },
    ...(account === undefined ? [] : [{ counts: accounts, key: account }]),
  ]
  return {
    async check(trying) {
      for (const { counts, key } of counted(trying)) await counts.check(key)
    },
    async failed(trying) {
      for (const { counts, key } of counted(trying)) await counts.failed(key)
    },
    async succeeded({ account }) {
      if (account !== undefined) await accounts.forget(account)
    },
  }
}

function counting({ free, window, firstWait, longestWait }: Patience) {
  const failures = new RateLimiterMemory({ points: free, duration: window })
  const waits = new RateLimiterMemory({ points: 0, duration: firstWait })
  return {
    async check(key: string): Promise<void> {
      const wait = await waits.get(key)
      if (wait !== null && wait.msBeforeNext > 0) throw tooOften(wait)
    },
    async failed(key: string): Promise<void> {
      const { consumedPoints: count } = await failures.penalty(key)
      if (count < free) return
      const wait = Math.min(firstWait * 2 ** (count - free), longestWait)
      // Failures are remembered for longer than the wait, so that waits grow while the guessing continues.
      await Promise.all([waits.set(key, 1, wait), failures.set(key, count, wait + window)])
    },
    async forget(key: string): Promise<void> {
      await Promise.all([failures.delete(key), waits.delete(key)])
    },
  }
}

function tooOften({ msBeforeNext }: RateLimiterRes): Fault {
  const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1_000))
  const minutes = Math.ceil(retryAfterSeconds / 60)
  return new Fault(
    'rate_limited',
    `Too many attempts failed. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    undefined,
    { retryAfterSeconds },
  )
}
