/** OAuth's authorization codes: a browser brings a code to an App, which exchanges it for tokens. A code is valid once, for ten minutes. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '#platform/ports/clock.ts'

const codeLife = 600_000
const mostCodes = 1_000

export interface PendingCode {
  readonly clientId: string
  readonly login: string
  /**
   * The redirect address. If the App names an address when it exchanges the code, it must be this one. If `undefined`, as in a code that the
   * installation of an App brings, any address is accepted.
   */
  readonly redirectUri: string | undefined
  readonly challenge: string | undefined
  readonly expires: number
}

/** The valid codes. They are only in memory, so people whose sign-in is under way during a restart have to begin again. */
export interface Codes {
  issue(pending: Omit<PendingCode, 'expires'>): string
  /** Returns the code's data and forgets it, so that a code works only once. `undefined` for an unknown or expired code. */
  take(code: string): PendingCode | undefined
}

export function createCodes(clock: Clock): Codes {
  const pending = new Map<string, PendingCode>()
  return {
    issue: (about) => {
      const code = randomBytes(20).toString('hex')
      const [oldest] = pending.keys()
      if (pending.size >= mostCodes && oldest !== undefined) pending.delete(oldest)
      pending.set(code, { ...about, expires: clock.now().getTime() + codeLife })
      return code
    },
    take: (code) => {
      const found = pending.get(code)
      pending.delete(code)
      return found && found.expires > clock.now().getTime() ? found : undefined
    },
  }
}
