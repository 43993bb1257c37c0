/** Codes that a browser carries to an App, which changes them into tokens: used once, for ten minutes. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '#platform/ports/clock.ts'

const codeLife = 600_000
const mostCodes = 1_000

export interface PendingCode {
  readonly clientId: string
  readonly login: string
  /** `undefined` where the person came by an installation: then the App may name any of its addresses. */
  readonly redirectUri: string | undefined
  readonly challenge: string | undefined
  readonly expires: number
}

/** Codes live in memory only: after a restart a person presses the button once more. */
export interface Codes {
  issue(pending: Omit<PendingCode, 'expires'>): string
  /** Answers a code once. */
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
