/** The state of the OAuth flow, in a signed cookie of the browser: what the code host's answer must match, and for whom the flow was begun. */
import { z } from 'zod'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import type { Linking } from './linkTickets.ts'
import { signedClaims } from './signedClaims.ts'

export const oauthStateCookie = 'flightdeck_sign_in'
export const oauthStateSeconds = 600
export const refusalCookie = 'flightdeck_refused'

const OAuthState = z.object({
  state: z.string(),
  /** The verifier of PKCE. */
  verifier: z.string(),
  /** The client's nonce: it accepts a token only together with this. */
  nonce: z.string().optional(),
  /** The person who connects an account; absent when somebody signs in. */
  link: z.object({ userId: z.string(), sessionId: z.string(), taskId: TaskId.optional() }).optional(),
})
export type OAuthState = z.infer<typeof OAuthState> & { readonly link?: Linking | undefined }

const Refused = z.object({ refused: z.string() })

export interface OAuthStates {
  cookieOf(state: OAuthState): Promise<string>
  /** The state of a cookie that we signed within the last ten minutes. */
  of(cookie: string | undefined): Promise<OAuthState | undefined>
  refusalOf(login: string): Promise<string>
  /** The account that was refused within the last ten minutes, by its cookie. */
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
