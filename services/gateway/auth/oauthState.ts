/** The OAuth flow's state, kept in a signed cookie of the browser: what the code host's answer must match, and for whom it was begun. */
import { jwtVerify, SignJWT, type JWTPayload } from 'jose'
import { z } from 'zod'
import type { LinkError, SignInError } from '#domain/api/auth.ts'
import { TaskId } from '#domain/kernel/ids.schema.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Linking } from './linkTickets.ts'

export const oauthStateCookie = 'flightdeck_sign_in'
export const oauthStateSeconds = 600
export const refusalCookie = 'flightdeck_refused'

const OAuthState = z.object({
  state: z.string(),
  /** PKCE's. */
  verifier: z.string(),
  /** From the client, which accepts a token only together with it. */
  nonce: z.string().optional(),
  /** Who connects an account; absent when somebody signs in. */
  link: z.object({ userId: z.string(), sessionId: z.string(), taskId: TaskId.optional() }).optional(),
})
export type OAuthState = z.infer<typeof OAuthState> & { readonly link?: Linking | undefined }

const Refused = z.object({ refused: z.string() })

export interface OAuthStates {
  /** The cookie of a state. */
  cookieOf(state: OAuthState): Promise<string>
  /** The state of a cookie that we signed within the last ten minutes. */
  of(cookie: string | undefined): Promise<OAuthState | undefined>
  /** The cookie that names a refused account. */
  refusalOf(login: string): Promise<string>
  /** The account that was refused within the last ten minutes, by its cookie. */
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
    cookieOf: (state) => sign({ ...state }),
    of: (cookie) => read(cookie, OAuthState),
    refusalOf: (login) => sign({ refused: login }),
    refused: async (cookie) => (await read(cookie, Refused))?.refused,
  }
}

/** Cookies of the OAuth flow: sent nowhere else, and read by no script. `origin` is where the browser reaches us. */
export function cookieOptions(origin: string, seconds: number, sameSite: 'lax' | 'strict') {
  return {
    httpOnly: true,
    sameSite,
    path: '/api/auth/github',
    maxAge: seconds * 1_000,
    secure: origin.startsWith('https:'),
    signed: false,
    overwrite: true,
  } as const
}

/** The OAuth flow did not reach its end. */
export class SignInFailed extends Error {
  /** The code that the client's page knows it by. */
  readonly value: SignInError | LinkError
  constructor(value: SignInError | LinkError, cause?: unknown) {
    super(value, { cause })
    this.value = value
  }
}

/** The account is not on the list of who may sign in. */
export class AccountNotAllowed extends SignInFailed {
  readonly login: string
  constructor(login: string) {
    super('not_allowed')
    this.login = login
  }
}
