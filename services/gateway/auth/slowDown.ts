/** Slows down who guesses: after some failures each further try has to wait, twice as long as the one before. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { Fault } from '#domain/kernel/errors.ts'

/** One try. It counts as a failure until it is said to be none. */
export interface Try {
  /** It was right: what the account has failed is forgotten, and the client's address has failed one less. */
  succeeded(): Promise<void>
  /** It was neither right nor wrong: it did not come to that. */
  voided(): Promise<void>
}

export interface SlowDown {
  /**
   * Takes a try from a client's address, for an account when one is named. Throws `rate_limited`, with the time to wait, when either has
   * failed too often; such a try does not count.
   */
  begin(from: { readonly address: string; readonly account?: string }): Promise<Try>
}

/** How much may fail, and what follows. Times in seconds. */
export interface Patience {
  /** So many may fail within `window` before one has to wait. */
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

/** In memory: each gateway counts what comes to it, and a restart begins anew. */
export function slowDown(patience: { account: Patience; address: Patience } = usual): SlowDown {
  const accounts = counting(patience.account)
  const addresses = counting(patience.address)
  return {
    async begin({ address, account }) {
      const ofAddress = await addresses.begin(networkOf(address))
      if (account === undefined) return { succeeded: ofAddress.undo, voided: ofAddress.undo }
      try {
        const ofAccount = await accounts.begin(account)
        return {
          succeeded: async () => void (await Promise.all([ofAccount.forget(), ofAddress.undo()])),
          voided: async () => void (await Promise.all([ofAccount.undo(), ofAddress.undo()])),
        }
      } catch (fault) {
        await ofAddress.undo()
        throw fault
      }
    },
  }
}

interface Counted {
  /** Takes back this one. */
  undo(): Promise<void>
  /** Takes back all of its key. */
  forget(): Promise<void>
}

function counting({ free, window, firstWait, longestWait }: Patience) {
  const counts = new RateLimiterMemory({ points: free, duration: window })
  // One try passes, and the next only when its wait is over: also of many that come at once, before any has failed.
  const gate = new RateLimiterMemory({ points: 1, duration: firstWait })

  return {
    async begin(key: string): Promise<Counted> {
      const shut = await gate.get(key)
      if (shut !== null && shut.msBeforeNext > 0) throw tooOften(shut)
      const { consumedPoints: count } = await counts.penalty(key)
      const passesGate = count >= free
      if (passesGate) {
        const wait = Math.min(firstWait * 2 ** (count - free), longestWait)
        await gate.consume(key, 1, { customDuration: wait }).catch((refused: unknown) => {
          throw refused instanceof RateLimiterRes ? tooOften(refused) : refused
        })
        // While it goes on it is remembered, so that the waits grow.
        await counts.set(key, count, wait + window)
      }
      return {
        async undo() {
          await counts.reward(key)
          if (passesGate) await gate.delete(key)
        },
        async forget() {
          await Promise.all([counts.delete(key), gate.delete(key)])
        },
      }
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

/** Of an IPv6 address its network of 64 bits, which one client has whole. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!address.includes(':')) return address
  const [head = '', tail] = address.split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`
}
