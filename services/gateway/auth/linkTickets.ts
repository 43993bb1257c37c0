/**
 * Tickets for connecting an account: a navigation carries no bearer token, so the person asks for a ticket with it and navigates with that.
 * Half of a ticket is in the address and half in a cookie. Without the cookie somebody could send another person's browser here with a
 * ticket of their own, and have that person's account.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import type { Identity } from '#platform/http/session.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import type { Vault } from '#platform/ports/vault.ts'

export const ticketCookie = 'flightdeck_link'
export const ticketSeconds = 60

/** Who connects an account, and the task that they come from and go back to. */
export interface Linking extends Identity {
  readonly taskId?: string | undefined
}

export interface Ticket {
  /** For the address. */
  readonly ticket: string
  /** For the cookie. */
  readonly proof: string
}

export interface Tickets {
  issue(linking: Linking): Promise<Ticket>
  /** The holder of the ticket, once: `undefined` when it is forged, expired, used, or comes without its other half. */
  use(ticket: string, proof: string | undefined): Promise<Linking | undefined>
}

const audience = 'link'
const Claims = z.object({
  sub: z.string(),
  sid: z.string(),
  jti: z.uuid(),
  proof: z.string(),
  taskId: TaskId.optional(),
})

export function tickets(services: {
  readonly recentKeys: Pick<RecentKeys, 'remember'>
  readonly vault: Pick<Vault, 'deriveKey'>
  readonly clock: Clock
  readonly ids: Ids
}): Tickets {
  const { recentKeys, clock, ids } = services
  const key = services.vault.deriveKey('link-ticket')

  async function claimsOf(ticket: string) {
    const options = { audience, algorithms: ['HS256'], currentDate: clock.now() }
    const verified = await jwtVerify(ticket, key, options).catch(() => undefined)
    return verified && Claims.safeParse(verified.payload).data
  }

  return {
    async issue({ userId, sessionId, taskId }) {
      const proof = randomBytes(32).toString('base64url')
      const ticket = await new SignJWT({ sid: sessionId, proof: digestOf(proof).toString('hex'), taskId })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject(userId)
        .setAudience(audience)
        .setJti(ids.uuid())
        .setExpirationTime(new Date(clock.now().getTime() + ticketSeconds * 1_000))
        .sign(key)
      return { ticket, proof }
    },
    async use(ticket, proof) {
      const claims = await claimsOf(ticket)
      if (claims === undefined || proof === undefined) return undefined
      const digest = digestOf(proof)
      const expected = Buffer.from(claims.proof, 'hex')
      if (expected.length !== digest.length || !timingSafeEqual(expected, digest)) return undefined
      // The first use wins, at whichever gateway; it is remembered for longer than a ticket lives.
      const { again } = await recentKeys.remember({ id: claims.jti, person: claims.sub }, claims.proof)
      return again ? undefined : { userId: claims.sub, sessionId: claims.sid, taskId: claims.taskId }
    },
  }
}

const digestOf = (proof: string): Buffer => createHash('sha256').update(proof).digest()
