/** Signing in through the code host: OAuth's authorization code with state and PKCE (RFC 6749, RFC 7636). */
import { createHash, randomBytes } from 'node:crypto'
import { Router } from '@koa/router'
import { jwtVerify, SignJWT } from 'jose'
import type { Context, Middleware } from 'koa'
import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'
import type { SignInError } from '#domain/api/auth.ts'
import { userStream } from '#domain/kernel/ids.ts'
import { user } from '#domain/user/user.ts'
import { usersView } from '#domain/views/users.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { originOfRequest } from '#platform/watch/requests.ts'
import type { GatewayOptions, GatewayServices } from '../services.ts'
import { originOf } from './origin.ts'

const cookieName = 'flightdeck_sign_in'
const cookieSeconds = 600
const projectedWithinMs = 5_000
const userNamespace = '0d0c4f2e-3f0b-4f6c-9f3e-8f4b1c6a2d57'

/** What the browser keeps while it is at the code host. */
const Journey = z.object({ state: z.string(), verifier: z.string() })

/** A sign-in that did not succeed, with the value the sign-in screen knows. */
class SignInFailed extends Error {
  readonly value: SignInError
  constructor(value: SignInError, cause?: unknown) {
    super(value, { cause })
    this.value = value
  }
}

/** `/api/auth/github` and its callback. Every outcome is a redirect to the client's own callback. */
export function signInRoutes(options: GatewayOptions, services: GatewayServices): Middleware {
  const key = services.vault.deriveKey('sign-in-journey')
  const router = new Router({ prefix: '/api/auth/github' })

  router.get('/', async (context) => {
    const origin = originOf(context, options)
    const state = randomBytes(24).toString('base64url')
    const verifier = randomBytes(48).toString('base64url')
    const journey = await new SignJWT({ state, verifier })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(`${cookieSeconds}s`)
      .sign(key)
    context.cookies.set(cookieName, journey, cookieOptions(origin))
    const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
    context.redirect(
      services.codeHost.authorizeUrl({ state, codeChallenge, origin, redirectUri: redirectUri(origin) }),
    )
  })

  router.get('/callback', async (context) => {
    const origin = originOf(context, options)
    try {
      const { token, onboarding } = await arrive(context, origin)
      context.redirect(`/auth/callback?token=${token}&onboarding=${onboarding}`)
    } catch (fault) {
      const value = fault instanceof SignInFailed ? fault.value : 'server'
      services.logger.warn({ err: fault, value }, 'sign-in failed')
      context.redirect(`/auth/callback?error=${value}`)
    } finally {
      context.cookies.set(cookieName, null, cookieOptions(origin))
    }
  })

  async function arrive(context: Context, origin: string): Promise<{ token: string; onboarding: boolean }> {
    const { code, state, error } = Answer.parse(context.query)
    const journey = await journeyOf(context.cookies.get(cookieName))
    if (!journey || journey.state !== state) throw new SignInFailed('session_lost')
    if (error !== undefined || code === undefined) throw new SignInFailed('github')
    const { account, tokens } = await askHost(code, journey.verifier, origin)
    const userId = uuidv5(`${options.codeHostName}:${account.id}`, userNamespace)
    await services.access.keep(userId, tokens)
    const session = services.sessions.begin()
    const { name, email, login, avatarUrl: avatar } = account
    const executed = await services.commands.execute(
      user,
      userStream(userId),
      {
        type: 'SignInWithGitHub',
        userId,
        profile: { githubId: account.id, name, email, login, avatar },
        ...session,
      },
      { actor: { kind: 'user', userId }, commandId: services.ids.uuid(), ...originOfRequest(context) },
    )
    if (executed.position !== null) await services.projected.waitFor(executed.position, projectedWithinMs)
    const document = await services.documents.asOf(usersView, userStream(userId), userId, executed.head)
    if (!document) throw new SignInFailed('user_not_found')
    const token = await services.sessions.token({ userId, sessionId: session.sessionId }, session.expiresAt)
    return { token, onboarding: !document.onboardingCompleted }
  }

  async function askHost(code: string, codeVerifier: string, origin: string) {
    try {
      const exchange = { code, codeVerifier, redirectUri: redirectUri(origin) }
      const tokens = await services.codeHost.exchangeCode(exchange)
      return { tokens, account: await services.codeHost.account(tokens.accessToken) }
    } catch (fault) {
      throw new SignInFailed(
        fault instanceof CodeHostFault && fault.kind !== 'unavailable' ? 'github' : 'server',
        fault,
      )
    }
  }

  async function journeyOf(cookie: string | undefined) {
    if (cookie === undefined) return undefined
    const verified = await jwtVerify(cookie, key, { algorithms: ['HS256'] }).catch(() => undefined)
    return verified && Journey.safeParse(verified.payload).data
  }

  const dispatch = router.routes()
  return (context, next) => dispatch(context as Parameters<typeof dispatch>[0], next)
}

/** What the code host sends back in the query. */
const Answer = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  error: z.string().optional(),
})

const redirectUri = (origin: string): string => `${origin}/api/auth/github/callback`

function cookieOptions(origin: string) {
  return {
    httpOnly: true,
    sameSite: 'lax',
    path: '/api/auth/github',
    maxAge: cookieSeconds * 1_000,
    secure: origin.startsWith('https:'),
    signed: false,
    overwrite: true,
  } as const
}
