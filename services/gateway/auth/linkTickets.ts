/**
 * Tickets for connecting an account. A navigation cannot send a bearer token, so the client first requests a ticket with its token, and then
 * navigates with the ticket. One half of a ticket is in the address and the other in a cookie. Without the cookie, an attacker could send a victim's
 * browser here with the attacker's ticket, and have the victim's account connected to the attacker.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import type { Identity } from '#platform/http/session.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import { signedClaims } from './signedClaims.ts'

export const ticketCookie = 'flightdeck_link'
const ticketSeconds = 60
/** The address that takes a ticket, and at which every sign-in with the code host begins. */
export const signInPath = '/api/auth/github'
/** The options of the cookie with one half of a ticket. */
export const ofTicket = { path: signInPath, seconds: ticketSeconds, sameSite: 'strict' } as const

/** Who connects an account, and the task that they came from and return to. */
export interface Linking extends Identity {
  readonly taskId?: string | undefined
}

/** The two halves of a ticket: one for the address, and one for the cookie. */
interface Ticket {
  readonly ticket: string
  readonly proof: string
}

interface Tickets {
  issue(linking: Linking): Promise<Ticket>
  /** Returns the holder of a ticket, only once; `undefined` when the ticket is forged, expired, used, or comes without its other half. */
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
      // Only the first use of a ticket counts, at whichever gateway it was. Uses are remembered for longer than a ticket is valid.
      const { again } = await recentKeys.remember({ id: claims.jti, person: claims.sub }, claims.proof)
      return again ? undefined : { userId: claims.sub, sessionId: claims.sid, taskId: claims.taskId }
    },
  }
}

const digestOf = (proof: string): Buffer => createHash('sha256').update(proof).digest()
