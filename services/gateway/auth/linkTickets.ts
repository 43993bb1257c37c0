/**
 * Tickets for connecting an account: a navigation carries no bearer token, so the person first requests a ticket with their token. Half of the ticket
 * is in the address and half in a cookie. Without the cookie, somebody could send another person's browser here with a ticket of their own, and so
 * get that person's account.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import type { Identity } from '#platform/http/session.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import { signedClaims } from './signedClaims.ts'

export const ticketCookie = 'flightdeck_link'
export const ticketSeconds = 60

/** The person who connects an account, and the task from which they come and to which they return. */
export interface Linking extends Identity {
  readonly taskId?: string | undefined
}

/** A ticket: one half is for the address, and the other is for the cookie. */
interface Ticket {
  readonly ticket: string
  readonly proof: string
}

interface Tickets {
  issue(linking: Linking): Promise<Ticket>
  /** The holder of a ticket, which is valid once: `undefined` when the ticket is forged, expired, used, or lacks its other half. */
  use(ticket: string, proof: string | undefined): Promise<Linking | undefined>
}

const aud = 'link'
const Claims = z.object({
  aud: z.literal(aud),
  sub: z.string(),
  sid: z.string(),
  jti: z.uuid(),
  proof: z.string(),
  taskId: TaskId.optional(),
})

export function tickets(
  services: Parameters<typeof signedClaims>[0] & {
    readonly recentKeys: Pick<RecentKeys, 'remember'>
    readonly ids: Ids
  },
): Tickets {
  const { recentKeys, ids } = services
  const { sign, read } = signedClaims(services, 'link-ticket', ticketSeconds)
  return {
    async issue({ userId: sub, sessionId: sid, taskId }) {
      const proof = randomBytes(32).toString('base64url')
      const half = digestOf(proof).toString('hex')
      return { ticket: await sign({ aud, sub, sid, jti: ids.uuid(), proof: half, taskId }), proof }
    },
    async use(ticket, proof) {
      const claims = await read(ticket, Claims)
      if (claims === undefined || proof === undefined) return undefined
      const digest = digestOf(proof)
      const expected = Buffer.from(claims.proof, 'hex')
      if (expected.length !== digest.length || !timingSafeEqual(expected, digest)) return undefined
      // The first use wins, at whichever gateway. It is remembered for longer than a ticket is valid.
      const { again } = await recentKeys.remember({ id: claims.jti, person: claims.sub }, claims.proof)
      return again ? undefined : { userId: claims.sub, sessionId: claims.sid, taskId: claims.taskId }
    },
  }
}

const digestOf = (proof: string): Buffer => createHash('sha256').update(proof).digest()
