/**
 * The signed cookies of a sign-in. One has the values that the code host's answer must match and, if an account is being connected, the person. The
 * other has the name of a refused account.
 */
import { z } from 'zod'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import type { Linking } from './linkTickets.ts'
import { signedClaims } from './signedClaims.ts'

export const oauthStateCookie = 'flightdeck_sign_in'
export const oauthStateSeconds = 600
export const refusalCookie = 'flightdeck_refused'

const OAuthState = z.object({
  state: z.string(),
  /** The code verifier of PKCE. */
  verifier: z.string(),
  /** A nonce of the client, which accepts a token only together with this nonce. */
  nonce: z.string().optional(),
  /** The person who connects an account; absent for a sign-in. */
  link: z.object({ userId: z.string(), sessionId: z.string(), taskId: TaskId.optional() }).optional(),
})
export type OAuthState = z.infer<typeof OAuthState> & { readonly link?: Linking | undefined }

const Refused = z.object({ refused: z.string() })

export interface OAuthStates {
  cookieOf(state: OAuthState): Promise<string>
  /** The state in a cookie that we signed within the last ten minutes. */
  of(cookie: string | undefined): Promise<OAuthState | undefined>
  refusalOf(login: string): Promise<string>
  /** The account in a cookie that we signed within the last ten minutes because the account was refused. */
  refused(cookie: string | undefined): Promise<string | undefined>
}

export function oauthStates(services: Parameters<typeof signedClaims>[0]): OAuthStates {
  const { sign, read } = signedClaims(services, 'sign-in-journey', oauthStateSeconds)
  return {
    cookieOf: (state) => sign({ ...state }),
    of: (cookie) => read(cookie, OAuthState),
    refusalOf: (login) => sign({ refused: login }),
    refused: async (cookie) => (await read(cookie, Refused))?.refused,
  }
}
