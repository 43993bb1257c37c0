/** What the browser keeps, signed, while its person is at the code host: what the answer must match, and for whom they went. */
import { jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { z } from 'zod'
import type { Identity } from '#platform/http/session.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'

export const oauthStateCookie = 'flightdeck_sign_in'
export const oauthStateSeconds = 600
export const refusalCookie = 'flightdeck_refused'

const OAuthState = z.object({
  state: z.string(),
  /** PKCE's. */
  verifier: z.string(),
  /** What the client began with: it takes a token only where this comes back with it. */
  nonce: z.string().optional(),
  /** Who connects their account; nobody where somebody signs in. */
  link: z.object({ userId: z.string(), sessionId: z.string() }).optional(),
})
export type OAuthState = z.infer<typeof OAuthState> & { readonly link?: Identity | undefined }

const Refused = z.object({ refused: z.string() })

export interface OAuthStates {
  /** What the cookie of a oauthState says. */
  cookieOf(oauthState: OAuthState): Promise<string>
  /** The oauthState of a cookie that we signed within the last ten minutes. */
  of(cookie: string | undefined): Promise<OAuthState | undefined>
  /** What the cookie of a oauthState that ended with a refusal says. */
  refusalOf(login: string): Promise<string>
  /** Whose account was refused within the last ten minutes, by the cookie. */
  refused(cookie: string | undefined): Promise<string | undefined>
}

export function oauthStates({
  vault,
  clock,
}: {
  vault: Pick<Vault, 'deriveKey'>
  clock: Clock
}): OAuthStates {
  const key = vault.deriveKey('sign-in-journey')
  const sign = (claims: JWTPayload): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(new Date(clock.now().getTime() + oauthStateSeconds * 1_000))
      .sign(key)
  async function read<Claims>(cookie: string | undefined, schema: z.ZodType<Claims>) {
    if (cookie === undefined) return undefined
    const options = { algorithms: ['HS256'], currentDate: clock.now() }
    const verified = await jwtVerify(cookie, key, options).catch(() => undefined)
    return verified && schema.safeParse(verified.payload).data
  }
  return {
    cookieOf: (oauthState) => sign({ ...oauthState }),
    of: (cookie) => read(cookie, OAuthState),
    refusalOf: (login) => sign({ refused: login }),
    refused: async (cookie) => (await read(cookie, Refused))?.refused,
  }
}
