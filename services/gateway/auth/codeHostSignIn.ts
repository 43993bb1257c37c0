/** Signing in with the code host, and connecting an account: OAuth's authorization code flow with state and PKCE (RFC 6749, RFC 7636). */
import { createHash, randomBytes } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import { z } from 'zod'
import { setupPath } from '#domain/api/setup.ts'
import type { SignInError } from '#domain/api/auth.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import { commandsFrom } from '#platform/commands/causation.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { originOfRequest } from '#platform/telemetry/requests.ts'
import type { GatewayOptions, GatewayServices } from '../services.ts'
import { accounts, AccountNotAllowed, SignInFailed, type ProvenAccount } from './accounts.ts'
import { originOf } from '../http/allowedHosts.ts'
import {
  oauthStateCookie,
  oauthStates,
  oauthStateSeconds,
  refusalCookie,
  type OAuthState,
  type OAuthStates,
} from './oauthState.ts'
import { ofTicket, signInPath, ticketCookie, tickets, type Linking } from './linkTickets.ts'
import { hostCookieName, setHostCookie } from './signedClaims.ts'

interface SignInFlow {
  readonly options: GatewayOptions
  readonly services: GatewayServices
  readonly states: OAuthStates
}

/**
 * The routes `/api/auth/github` and `/api/auth/github/callback`, which redirect the browser. A sign-in ends at the client's callback page; the
 * connection of an account ends at the settings, or at the task that the person came from.
 */
export function signInRoutes(options: GatewayOptions, services: GatewayServices): Middleware {
  const flow: SignInFlow = { options, services, states: oauthStates(services) }
  const router = new Router({ prefix: signInPath, sensitive: true })
  router.get('/', (context) => start(flow, context))
  router.get('/callback', (context) => finish(flow, context))
  const dispatch = router.routes()
  return (context, next) => dispatch(context as Parameters<typeof dispatch>[0], next)
}

/** Begins a sign-in or, if `link` is given, the connection of an account. */
async function start(flow: SignInFlow, context: Context): Promise<void> {
  const { link } = context.query
  if (link === undefined) {
    const query = StartQuery.safeParse(context.query)
    try {
      return await toCodeHost(flow, context, query.success ? query.data : {})
    } catch (fault) {
      if (flow.services.codeHost.ownToken !== undefined) return refuse(flow, context, fault)
      // Without an App nobody can sign in. The set-up page explains that, and admits whoever may set up the App.
      if (!(fault instanceof Fault && fault.code === 'setup_required')) throw fault
      return context.redirect(setupPath)
    }
  }
  const proof = readCookie(flow, context, ticketCookie)
  setCookie(flow, context, ticketCookie, null)
  try {
    const identity = await holderOf(flow, context, typeof link === 'string' ? link : '', proof)
    await toCodeHost(flow, context, { link: identity })
  } catch (fault) {
    fail(flow, context, fault, 'link')
  }
}

/** Handles what the browser brings back from the code host: the answer to a sign-in, or the news that the App was installed. */
async function finish(flow: SignInFlow, context: Context): Promise<void> {
  const state = await flow.states.of(readCookie(flow, context, oauthStateCookie))
  const installed = Installation.safeParse(context.query)
  // A query that only reports an installation, without our state, signs nobody in. The browser's cookie stays, for a sign-in that is still running.
  if (installed.success && !answers(context.query, state)) {
    return context.redirect(afterInstall(installed.data))
  }
  try {
    await enter(flow, context, state)
  } catch (fault) {
    await refuse(flow, context, fault, state?.link === undefined ? 'sign-in' : 'link')
  } finally {
    setCookie(flow, context, oauthStateCookie, null)
  }
}

/** Signs the person in, or connects the account to the person who requested the connection. */
async function enter(flow: SignInFlow, context: Context, state: OAuthState | undefined): Promise<void> {
  await finishSignIn(flow, context, await shownBy(flow, context, state), state ?? {})
}

interface SignInRequest {
  /** The person who connects an account; absent for a sign-in. */
  readonly link?: Linking | undefined
  /** A text of the client that is returned with the token. */
  readonly nonce?: string | undefined
}

async function finishSignIn(
  flow: SignInFlow,
  context: Context,
  shown: ProvenAccount,
  { link, nonce }: SignInRequest,
): Promise<void> {
  const known = accounts(flow.options, servicesFor(flow, context))
  if (link !== undefined) {
    await known.link(shown, link)
    return context.redirect(link.taskId === undefined ? settings : `/tasks/${link.taskId}`)
  }
  const { token, user: person } = await known.signIn(shown, context.get('user-agent'))
  const given = nonce === undefined ? '' : `&nonce=${nonce}`
  context.redirect(`/auth/callback?token=${token}&onboarding=${!person.onboardingCompleted}${given}`)
}

/** Signs in with the token that this server was configured with: in single-user mode, no page of the code host is needed. */
async function withOwnToken(
  flow: SignInFlow,
  context: Context,
  accessToken: string,
  request: SignInRequest,
): Promise<void> {
  const { codeHost } = flow.services
  const tokens = { accessToken, expiresAt: null, refreshToken: null, refreshExpiresAt: null }
  const account = await codeHost.account(accessToken).catch(failedAt)
  await finishSignIn(flow, context, { tokens, account }, request)
}

/**
 * Whether only a page on this machine can have sent the request. A request through a proxy, or from another site, would act as the owner of the
 * token. Reads the raw headers, since `headers` no longer contains those of proxies.
 */
function isFromThisMachine(context: Context): boolean {
  const names = context.req.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const isProxied = names.some((name) => name.startsWith('x-forwarded-') || ofProxies.has(name))
  return !isProxied && context.get('sec-fetch-site') !== 'cross-site'
}

const ofProxies = new Set(['forwarded', 'via', 'x-real-ip'])

async function toCodeHost(
  flow: SignInFlow,
  context: Context,
  { link, nonce, account }: StartQuery & { readonly link?: Linking },
): Promise<void> {
  const { ownToken } = flow.services.codeHost
  if (ownToken !== undefined && !isFromThisMachine(context)) throw new Fault('foreign_host')
  if (ownToken !== undefined) return withOwnToken(flow, context, ownToken, { link, nonce })
  const origin = originOf(context, flow.options)
  const state = randomBytes(24).toString('base64url')
  const verifier = randomBytes(48).toString('base64url')
  const cookie = await flow.states.cookieOf({
    state,
    verifier,
    ...(link === undefined ? {} : { link }),
    ...(nonce === undefined ? {} : { nonce }),
  })
  setCookie(flow, context, oauthStateCookie, cookie)
  const codeChallenge = createHash('sha256').update(verifier).digest('base64url')
  context.redirect(
    await flow.services.codeHost.authorizeUrl({
      state,
      codeChallenge,
      origin,
      redirectUri: redirectUri(origin),
      anotherAccount: account === 'another',
    }),
  )
}

/** The person who requested the ticket, if the session of that request still exists. */
async function holderOf(
  flow: SignInFlow,
  context: Context,
  ticket: string,
  proof: string | undefined,
): Promise<Linking> {
  const holder = await tickets(servicesFor(flow, context)).use(ticket, proof)
  if (holder === undefined) throw new SignInFailed('session_lost')
  const { state } = await flow.services.commands.load(user, userStream(holder.userId))
  if (state.kind !== 'user' || !state.sessions.has(holder.sessionId)) throw new SignInFailed('user_not_found')
  return holder
}

/** The account in the code host's answer, if the answer matches the state. */
async function shownBy(
  flow: SignInFlow,
  context: Context,
  state: OAuthState | undefined,
): Promise<ProvenAccount> {
  const { codeHost } = flow.services
  const answer = Answer.safeParse(context.query)
  if (!answer.success || state === undefined || state.state !== answer.data.state)
    throw new SignInFailed('session_lost')
  const { code, error } = answer.data
  if (error !== undefined || code === undefined) throw new SignInFailed('github')
  try {
    const callback = redirectUri(originOf(context, flow.options))
    const tokens = await codeHost.exchangeCode({ code, codeVerifier: state.verifier, redirectUri: callback })
    return { tokens, account: await codeHost.account(tokens.accessToken) }
  } catch (fault) {
    return failedAt(fault)
  }
}

/** Throws the reason for a sign-in that failed at the code host, or because the code host could not be reached. */
function failedAt(fault: unknown): never {
  const isRefused = fault instanceof CodeHostFault && fault.kind !== 'unavailable'
  throw new SignInFailed(isRefused ? 'github' : 'server', fault)
}

/** The services, with this request as the cause of everything they do. */
function servicesFor({ services }: SignInFlow, context: Context): GatewayServices {
  return { ...services, commands: commandsFrom(services.commands, originOfRequest(context)) }
}

const ofState = { path: signInPath, seconds: oauthStateSeconds, sameSite: 'lax' } as const

/** Sets a cookie of the flow, or deletes it when `value` is `null`. */
function setCookie({ options }: SignInFlow, context: Context, name: string, value: string | null): void {
  const journey = name === ticketCookie ? ofTicket : ofState
  setHostCookie(context.cookies, originOf(context, options), name, value, journey)
}

function readCookie({ options }: SignInFlow, context: Context, name: string): string | undefined {
  return context.cookies.get(hostCookieName(originOf(context, options), name))
}

/** Like `fail`, and also stores the name of the refused account for the page that explains the refusal. */
async function refuse(
  flow: SignInFlow,
  context: Context,
  fault: unknown,
  what: 'sign-in' | 'link' = 'sign-in',
): Promise<void> {
  if (fault instanceof AccountNotAllowed)
    setCookie(flow, context, refusalCookie, await flow.states.refusalOf(fault.login))
  fail(flow, context, fault, what)
}

function fail({ services }: SignInFlow, context: Context, fault: unknown, what: 'sign-in' | 'link'): void {
  const value = fault instanceof SignInFailed ? fault.value : 'server'
  services.logger.warn({ err: fault, value }, `${what} failed`)
  // Somebody whose account or session is gone cannot open the settings.
  const toSettings = what === 'link' && value !== 'user_not_found'
  context.redirect(toSettings ? `${settings}&error=${value}` : `/auth/callback?error=${value}`)
}

/** The client's page on which an account is connected. */
const settings = '/settings?tab=github'

/** The query with which a client begins a sign-in: a nonce that is returned with the token, and whether the person chooses another account. */
const StartQuery = z.object({
  nonce: z
    .string()
    .regex(/^[\w-]{16,128}$/)
    .optional()
    .catch(undefined),
  account: z.literal('another').optional().catch(undefined),
})
type StartQuery = z.infer<typeof StartQuery>

/** The query of the code host's redirect. */
const Answer = z.object({
  code: z.string().optional(),
  state: z.string().optional(),
  error: z.string().optional(),
})

/**
 * Whether `query` answers the request with the state `expected`. The query may also report an installation, if the person installed the App on the
 * way.
 */
function answers(query: unknown, expected: OAuthState | undefined): boolean {
  const answer = Answer.safeParse(query)
  if (!answer.success || expected === undefined) return false
  const { state, code, error } = answer.data
  return state === expected.state && (code !== undefined || error !== undefined)
}

/**
 * The query with which the code host sends a browser back after an installation, or after an owner was asked to install the App. It has at least one
 * of the two parameters.
 */
const Installation = z
  .object({ setup_action: z.unknown(), installation_id: z.unknown() })
  .partial()
  .refine((sent) => sent.setup_action !== undefined || sent.installation_id !== undefined)
const SetupAction = z.enum(['install', 'update', 'request'])
const InstallationId = z.string().regex(/^[1-9]\d{0,19}$/)

/**
 * Where the browser goes after an installation. A navigation has no session, and anybody can make an address with any `installation_id`, so the
 * settings page checks whether the installation is one of the person's. When an owner was only asked to install the App, there is no id yet.
 */
function afterInstall({ setup_action: action, installation_id: id }: z.infer<typeof Installation>): string {
  const failed = (error: SignInError) => `/auth/callback?error=${error}`
  if (!SetupAction.optional().safeParse(action).success) return failed('install_callback')
  if (id === undefined || id === '')
    return action === 'request' ? `${settings}&requested=true` : failed('no_install_id')
  const number = InstallationId.safeParse(id)
  return number.success ? `${settings}&installation_id=${number.data}` : failed('install_callback')
}

const redirectUri = (origin: string): string => `${origin}${signInPath}/callback`
