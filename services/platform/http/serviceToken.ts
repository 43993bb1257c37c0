/**
 * Service tokens, with which one service calls another. They name the person for whom the call is made, are signed, and are valid for one callee and
 * one minute.
 */
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Identity } from './session.ts'

export type Callee = 'command' | 'query'

/** The service for a request below `/api`: the query service for reads, the command service for writes; `undefined` for other methods. */
export function calleeOf(method: string): Callee | undefined {
  if (method === 'GET' || method === 'HEAD') return 'query'
  return ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) ? 'command' : undefined
}

export interface ServiceTokens {
  /** Makes a token for calling `callee`, for the person of `identity` or for nobody (`null`). */
  issue(callee: Callee, identity: Identity | null): Promise<string>
  /** The identity in an unexpired token that was issued for `callee`; `undefined` for any other token. */
  verify(callee: Callee, token: string): Promise<{ readonly identity: Identity | null } | undefined>
}

export const serviceTokenSeconds = 60
/** The realm in a 401 about the service token, to distinguish it from a 401 about the person. */
export const serviceRealm = 'flightdeck-service'

const Claims = z.object({ for: z.object({ userId: z.string(), sessionId: z.string() }).nullable() })

/** Makes and verifies service tokens. Services that share a master key accept each other's tokens. */
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
