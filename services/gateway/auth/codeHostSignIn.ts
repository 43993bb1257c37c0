/** The way to the code host and back: OAuth's authorization code with state and PKCE (RFC 6749, RFC 7636), for signing in and for connecting an account. */
import { createHash, randomBytes } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { getRefusal, linkGitHub } from '#domain/api/auth.schema.ts'
import type { SignInError } from '#domain/api/auth.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import { commandsFrom } from '#platform/commands/causation.ts'
import { identified } from '#platform/http/guards.ts'
import { routeWith, type Route } from '#platform/http/route.ts'
import type { Identity } from '#platform/http/session.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { originOfRequest } from '#platform/telemetry/requests.ts'
import type { GatewayOptions, GatewayServices } from '../services.ts'
import { accounts, type Shown } from './accounts.ts'
import { cookieOptions } from './cookies.ts'
import { NotAllowed, WayFailed } from './failure.ts'
import {
  oauthStateCookie,
  oauthStates,
  oauthStateSeconds,
  refusalCookie,
  type OAuthState,
} from './oauthState.ts'
import { originOf } from './origin.ts'
import { ticketCookie, tickets, ticketSeconds } from './linkTickets.ts'

/** `/api/auth/github` and its callback. Every outcome is a redirect: of signing in to the client's own callback, of connecting to the settings. */
export function signInRoutes(options: GatewayOptions, services: GatewayServices): Middleware {
  const router = new Router({ prefix: '/api/auth/github', sensitive: true })
  const ways = oauthStates(services)

  router.get('/', async (context) => {
    const { link } = context.query
    if (link === undefined) {
      const asked = Departure.safeParse(context.query)
      return depart(context, asked.success ? asked.data : {})
    }
    const origin = originOf(context, options)
    const proof = context.cookies.get(ticketCookie)
    context.cookies.set(ticketCookie, null, cookieOptions(origin, ticketSeconds, 'strict'))
    try {
      await depart(context, { link: await holderOf(context, typeof link === 'string' ? link : '', proof) })
    } catch (fault) {
      fail(context, fault, 'link')
    }
  })

  router.get('/callback', async (context) => {
    const origin = originOf(context, options)
    const oauthState = await ways.of(context.cookies.get(oauthStateCookie))
    const installed = Installation.safeParse(context.query)
    // Without the answer to the oauthState nobody is signed in by it, and a oauthState that is under way goes on.
    if (installed.success && !answers(context.query, oauthState)) {
      const failure = failureOf(installed.data)
      return context.redirect(failure === null ? settings : `/auth/callback?error=${failure}`)
    }
    const known = accounts(options, from(context))
    try {
      const shown = await shownBy(context, oauthState, origin)
      if (oauthState?.link === undefined) {
        const { token, user: person } = await known.signIn(shown, context.get('user-agent'))
        const nonce = oauthState?.nonce === undefined ? '' : `&nonce=${oauthState.nonce}`
        context.redirect(`/auth/callback?token=${token}&onboarding=${!person.onboardingCompleted}${nonce}`)
      } else {
        await known.link(shown, oauthState.link)
        context.redirect(settings)
      }
    } catch (fault) {
      if (fault instanceof NotAllowed) await refuse(context, fault, origin)
      fail(context, fault, oauthState?.link === undefined ? 'sign-in' : 'link')
    } finally {
      context.cookies.set(oauthStateCookie, null, cookieOptions(origin, oauthStateSeconds, 'lax'))
    }
  })

  /** Sends the browser to the code host. */
  async function depart(
    context: Context,
    { link, nonce, account }: Departure & { readonly link?: Identity },
  ): Promise<void> {
    const origin = originOf(context, options)
    const state = randomBytes(24).toString('base64url')
    const verifier = randomBytes(48).toString('base64url')
    const cookie = await ways.cookieOf({
      state,
      verifier,
      ...(link === undefined ? {} : { link }),
      ...(nonce === undefined ? {} : { nonce }),
    })
    context.cookies.set(oauthStateCookie, cookie, cookieOptions(origin, oauthStateSeconds, 'lax'))
    const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
    context.redirect(
      services.codeHost.authorizeUrl({
        state,
        codeChallenge,
        origin,
        redirectUri: redirectUri(origin),
        anotherAccount: account === 'another',
      }),
    )
  }

  /** Whose ticket it is, while the session that asked for it goes on. */
  async function holderOf(context: Context, ticket: string, proof: string | undefined): Promise<Identity> {
    const holder = await tickets(from(context)).use(ticket, proof)
    if (holder === undefined) throw new WayFailed('session_lost')
    const { state } = await services.commands.load(user, userStream(holder.userId))
    if (state.kind !== 'user' || !state.sessions.has(holder.sessionId)) throw new WayFailed('user_not_found')
    return holder
  }

  /** The account that the code host's answer shows, when the answer belongs to the oauthState. */
  async function shownBy(
    context: Context,
    oauthState: OAuthState | undefined,
    origin: string,
  ): Promise<Shown> {
    const answer = Answer.safeParse(context.query)
    if (!answer.success || oauthState === undefined || oauthState.state !== answer.data.state)
      throw new WayFailed('session_lost')
    const { code, error } = answer.data
    if (error !== undefined || code === undefined) throw new WayFailed('github')
    try {
      const exchange = { code, codeVerifier: oauthState.verifier, redirectUri: redirectUri(origin) }
      const tokens = await services.codeHost.exchangeCode(exchange)
      return { tokens, account: await services.codeHost.account(tokens.accessToken) }
    } catch (fault) {
      const refused = fault instanceof CodeHostFault && fault.kind !== 'unavailable'
      throw new WayFailed(refused ? 'github' : 'server', fault)
    }
  }

  /** What this request causes goes back to it. */
  const from = (context: Context): GatewayServices => ({
    ...services,
    commands: commandsFrom(services.commands, originOfRequest(context)),
  })

  /** Lets the page say who was refused, and leaves nothing of theirs. */
  async function refuse(context: Context, { login }: NotAllowed, origin: string): Promise<void> {
    context.cookies.set(
      refusalCookie,
      await ways.refusalOf(login),
      cookieOptions(origin, oauthStateSeconds, 'lax'),
    )
  }

  function fail(context: Context, fault: unknown, which: 'sign-in' | 'link'): void {
    const value = fault instanceof WayFailed ? fault.value : 'server'
    services.logger.warn({ err: fault, value }, `${which} failed`)
    // Who is no longer there has no settings.
    const toSettings = which === 'link' && value !== 'user_not_found'
    context.redirect(toSettings ? `${settings}&error=${value}` : `/auth/callback?error=${value}`)
  }

  const dispatch = router.routes()
  return (context, next) => dispatch(context as Parameters<typeof dispatch>[0], next)
}

const route = routeWith<GatewayServices>()

/** The calls around the way: the one that gives out tickets, and the one that says who was refused. */
export function wayRoutes(
  options: Pick<GatewayOptions, 'publicUrl' | 'port'>,
): readonly Route<GatewayServices>[] {
  return [
    route(
      getRefusal,
      async () => ({}),
      async ({ client }, services) => {
        const login = await oauthStates(services).refused(client.cookies.get(refusalCookie))
        if (login === undefined) throw new Fault('not_found', 'No sign-in was refused recently.')
        return { login, sentence: services.accessControl.refusal(login) }
      },
    ),
    route(linkGitHub, identified, async ({ user: person, sessionId, client }, services) => {
      const { ticket, proof } = await tickets(services).issue({ userId: person.id, sessionId })
      const origin = originOf(client, options)
      client.cookies.set(ticketCookie, proof, cookieOptions(origin, ticketSeconds, 'strict'))
      return { url: `/api/auth/github?link=${ticket}` }
    }),
  ]
}

/** Where the account is connected, in the client. */
const settings = '/settings?tab=github'

/** What the client may begin a sign-in with: a nonce that comes back with the token, and the wish to choose another account. */
const Departure = z.object({
  nonce: z
    .string()
    .regex(/^[\w-]{16,128}$/)
    .optional()
    .catch(undefined),
  account: z.literal('another').optional().catch(undefined),
})
type Departure = z.infer<typeof Departure>

/** What the code host sends back in the query. */
const Answer = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  error: z.string().optional(),
})

/** Whether what came back answers the journey; an installation comes with it where the app was installed on the way. */
function answers(query: unknown, oauthState: OAuthState | undefined): boolean {
  const answer = Answer.safeParse(query)
  if (!answer.success || oauthState === undefined) return false
  const { state, code, error } = answer.data
  return state === oauthState.state && (code !== undefined || error !== undefined)
}

/** What the code host sends back with when the app was installed, or its owner was asked to: with either member it is about that. */
const Installation = z
  .object({ setup_action: z.unknown(), installation_id: z.unknown() })
  .partial()
  .refine((sent) => sent.setup_action !== undefined || sent.installation_id !== undefined)
const SetupAction = z.enum(['install', 'update', 'request'])
const InstallationId = z.string().regex(/^[1-9]\d{0,19}$/)

/** Why an installation counts as failed; a request to the owner has no number yet. */
function failureOf({
  setup_action: action,
  installation_id: id,
}: z.infer<typeof Installation>): SignInError | null {
  if (!SetupAction.optional().safeParse(action).success) return 'install_callback'
  if (id === undefined || id === '') return action === 'request' ? null : 'no_install_id'
  return InstallationId.safeParse(id).success ? null : 'install_callback'
}

const redirectUri = (origin: string): string => `${origin}/api/auth/github/callback`
