/** What the browser keeps, signed, while its person is at the code host: what the answer must match, and for whom they went. */
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { Identity } from '#platform/http/session.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'

export const journeyCookie = 'flightdeck_sign_in'
export const journeySeconds = 600

const Journey = z.object({
  state: z.string(),
  /** PKCE's. */
  verifier: z.string(),
  /** Who connects their account; nobody where somebody signs in. */
  link: z.object({ userId: z.string(), sessionId: z.string() }).optional(),
})
export type Journey = z.infer<typeof Journey> & { readonly link?: Identity | undefined }

export interface Journeys {
  /** What the cookie of a journey says. */
  cookieOf(journey: Journey): Promise<string>
  /** The journey of a cookie that we signed within the last ten minutes. */
  of(cookie: string | undefined): Promise<Journey | undefined>
}

export function journeys({ vault, clock }: { vault: Pick<Vault, 'deriveKey'>; clock: Clock }): Journeys {
  const key = vault.deriveKey('sign-in-journey')
  return {
    cookieOf: (journey) => {
      const now = clock.now().getTime()
      return new SignJWT({ ...journey })
        .setProtectedHeader({ alg: 'HS256' })
        .setExpirationTime(new Date(now + journeySeconds * 1_000))
        .sign(key)
    },
    async of(cookie) {
      if (cookie === undefined) return undefined
      const options = { algorithms: ['HS256'], currentDate: clock.now() }
      const verified = await jwtVerify(cookie, key, options).catch(() => undefined)
      return verified && Journey.safeParse(verified.payload).data
    },
  }
}
