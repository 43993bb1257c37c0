/** Service tokens: they name the person for whom one service calls another; signed, for one callee, valid for one minute. */
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Identity } from './session.ts'

export type Callee = 'command' | 'query'

/** The service for a request below `/api`: reads go to the query service, writes to the command service, and anything else to none. */
export function calleeOf(method: string): Callee | undefined {
  if (method === 'GET' || method === 'HEAD') return 'query'
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? 'command' : undefined
}

export interface ServiceTokens {
  /** A token for calling `callee`, for the person of `identity` or for nobody (`null`). */
  issue(callee: Callee, identity: Identity | null): Promise<string>
  /** The identity in a token that was issued for `callee` and has not expired; `undefined` for any other token. */
  verify(callee: Callee, token: string): Promise<{ readonly identity: Identity | null } | undefined>
}

export const serviceTokenSeconds = 60
/** The realm of a 401 for a missing or invalid service token, to distinguish it from a 401 for a person. */
export const serviceRealm = 'flightdeck-service'

const Claims = z.object({ for: z.object({ userId: z.string(), sessionId: z.string() }).nullable() })

/** Services that share a master key accept each other's tokens. */
export function serviceTokens({ vault, clock }: { vault: Vault; clock: Clock }): ServiceTokens {
  const key = vault.deriveKey('service-token')
  const audience = (callee: Callee): string => `flightdeck:${callee}`
  return {
    issue(callee, identity) {
      const now = clock.now()
      return new SignJWT({ for: identity && { userId: identity.userId, sessionId: identity.sessionId } })
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience(audience(callee))
        .setIssuedAt(now)
        .setExpirationTime(new Date(now.getTime() + serviceTokenSeconds * 1_000))
        .sign(key)
    },
    async verify(callee, token) {
      try {
        const { payload } = await jwtVerify(token, key, {
          audience: audience(callee),
          algorithms: ['HS256'],
          requiredClaims: ['exp'],
          currentDate: clock.now(),
        })
        return { identity: Claims.parse(payload).for }
      } catch {
        return undefined
      }
    },
  }
}
