/** The bearer token: who a request is from, signed by us, for seven days. */
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { Clock } from '#platform/ports/clock.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Vault } from '#platform/ports/vault.ts'

/** Who a token names. Whether the session was ended is asked of the user's document. */
export interface Identity {
  readonly userId: string
  readonly sessionId: string
}

export const sessionDays = 7
const audience = 'flightdeck'
const Claims = z.object({ sub: z.string(), sid: z.string() })

export interface Sessions {
  /** A new session's id and end, to be recorded before its token is given out. */
  begin(): { readonly sessionId: string; readonly expiresAt: string }
  token(identity: Identity, expiresAt: string): Promise<string>
  /** The identity of a token that we signed and that has not run out; `undefined` otherwise. */
  verify(token: string): Promise<Identity | undefined>
}

export function sessions(engines: { vault: Pick<Vault, 'deriveKey'>; clock: Clock; ids: Ids }): Sessions {
  const key = engines.vault.deriveKey('bearer-token')
  return {
    begin: () => ({
      sessionId: engines.ids.uuid(),
      expiresAt: new Date(engines.clock.now().getTime() + sessionDays * 86_400_000).toISOString(),
    }),
    token: ({ userId, sessionId }, expiresAt) =>
      new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(userId)
        .setAudience(audience)
        .setIssuedAt(engines.clock.now())
        .setExpirationTime(new Date(expiresAt))
        .sign(key),
    async verify(token) {
      try {
        const options = { audience, algorithms: ['HS256'], currentDate: engines.clock.now() }
        const { payload } = await jwtVerify(token, key, options)
        const claims = Claims.parse(payload)
        return { userId: claims.sub, sessionId: claims.sid }
      } catch {
        return undefined
      }
    },
  }
}
