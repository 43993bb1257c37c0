/** Codes that a browser brings to an App, and that the App exchanges for tokens: valid once and for ten minutes. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '#platform/ports/clock.ts'

const codeLife = 600_000
const mostCodes = 1_000

export interface PendingCode {
  readonly clientId: string
  readonly login: string
  /** `undefined` when the person came from an installation: then the App may name any of its redirect addresses. */
  readonly redirectUri: string | undefined
  readonly challenge: string | undefined
  readonly expires: number
}

/** Codes are only in memory: after a restart, a person has to press the button again. */
export interface Codes {
  issue(pending: Omit<PendingCode, 'expires'>): string
  /** Returns the code's data and forgets it, so that a code works only once. */
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
