/** Bearer tokens. They name a user and a session, are signed, and are valid for seven days. */
import { parse } from 'bowser'
import { jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { LogIdentity } from '#domain/log.ts'
import type { NewSession } from '#domain/user/user.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Vault } from '#platform/ports/vault.ts'

/** The user and session of a token. The user's document says whether the session was ended. */
export interface Identity {
  readonly userId: string
  readonly sessionId: string
}

/** The identity in a token that was verified. */
export interface VerifiedIdentity extends Identity {
  /** When the session expires, in milliseconds since 1970. */
  readonly endsAt: number
}

export const sessionDays = 7
const audience = 'flightdeck'
const Claims = z.object({ sub: z.string(), sid: z.string(), exp: z.number() })
const maxVerified = 1_000

export interface Sessions {
  /** Makes a new session, to be recorded before its token is handed out. */
  begin(userAgent: string): NewSession
  token(identity: Identity, expiresAt: string): Promise<string>
  /** The identity in an unexpired token that we signed; `undefined` for any other token. */
  verify(token: string): Promise<VerifiedIdentity | undefined>
}

/** Makes and verifies the tokens of one epoch of the log. */
export function sessions(
  engines: { vault: Pick<Vault, 'deriveKey'>; clock: Clock; ids: Ids },
  { epoch }: Pick<LogIdentity, 'epoch'>,
): Sessions {
  // A new epoch signs everybody out, because a restored log does not know which sessions have begun and ended since the copy was made.
  const key = engines.vault.deriveKey(epoch === 1 ? 'bearer-token' : `bearer-token ${epoch}`)
  // A signature stays valid, and verifying it costs more than most reads. Whether the session was ended is checked elsewhere, at each request.
  const verified = new LRUCache<string, VerifiedIdentity>({ max: maxVerified })
  return {
    begin(userAgent) {
      const now = engines.clock.now()
      return {
        client: clientOf(userAgent),
        sessionId: engines.ids.uuid(),
        startsAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + sessionDays * 86_400_000).toISOString(),
      }
    },
    token: ({ userId, sessionId }, expiresAt) =>
      new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(userId)
        .setAudience(audience)
        .setIssuedAt(engines.clock.now())
        .setExpirationTime(new Date(expiresAt))
        .sign(key),
    async verify(token) {
      const now = engines.clock.now()
      const known = verified.get(token)
      if (known !== undefined && now.getTime() < known.endsAt) return known
      try {
        const options = { audience, algorithms: ['HS256'], currentDate: now }
        const { payload } = await jwtVerify(token, key, options)
        const { sub: userId, sid: sessionId, exp } = Claims.parse(payload)
        const identity = { userId, sessionId, endsAt: exp * 1_000 }
        verified.set(token, identity)
        return identity
      } catch {
        return undefined
      }
    },
  }
}

/** A longer user agent is cut to this many characters before it is parsed. */
const longestUserAgent = 500

/** The browser and its system, such as 'Chrome on Linux'; `null` when the user agent names neither. */
export function clientOf(userAgent: string): string | null {
  if (userAgent === '') return null
  const { browser, os } = parse(userAgent.slice(0, longestUserAgent))
  const names = [browser.name, os.name].filter((name) => name !== undefined && name !== '')
  return names.length === 0 ? null : names.join(' on ').slice(0, 100)
}
