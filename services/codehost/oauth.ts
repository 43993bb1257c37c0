/** OAuth as with a GitHub App: the authorization page, codes with PKCE, expiring user tokens, their refresh, and the end of a grant. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { Router } from '@koa/router'
import type { Context } from 'koa'
import { z } from 'zod'
import type { Host, OAuthClient } from './host.ts'
import { basicCredentials, rememberBrowser } from './http/authenticate.ts'
import { isLoopback } from './http/origin.ts'
import { invalid, notFound, Refusal } from './httpError.ts'
import { show } from './pages/layout.ts'
import { authorizePage } from './pages/signIn.ts'
import { personOf } from './state/accounts.ts'
import type { Codes } from './state/authorizationCodes.ts'
import {
  accessLife,
  grantByRefresh,
  grantOfAccess,
  newToken,
  refreshLife,
  withGrant,
  withoutGrants,
} from './state/tokens.ts'

const AuthorizeQuery = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  state: z.string().max(2_000).optional(),
  code_challenge: z.string().max(200).optional(),
  code_challenge_method: z.string().optional(),
  login: z.string().optional(),
})
type AuthorizeQuery = z.infer<typeof AuthorizeQuery>

const TokenRequest = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  grant_type: z.string().optional(),
  code: z.string().optional(),
  redirect_uri: z.string().optional(),
  code_verifier: z.string().optional(),
  refresh_token: z.string().optional(),
})
type TokenRequest = z.infer<typeof TokenRequest>

const EndGrant = z.object({ access_token: z.string() })

/** The routes of OAuth: to authorize in a browser, to get tokens, and to end tokens and grants. */
export function oauthRoutes(host: Host): Router {
  const { codes } = host
  const router = new Router()
  router.get('/login/oauth/authorize', (ctx) => authorize(ctx, host, codes))
  router.post('/login/oauth/access_token', async (ctx) => {
    const request = TokenRequest.safeParse(ctx.request.body)
    answerToken(
      ctx,
      request.success ? await issueTokens(host, codes, request.data) : faults.incorrect_client_credentials,
    )
  })
  // The app ends tokens and grants at addresses that begin with this path.
  const ofClient = '/api/v3/applications/:client_id'
  router.delete(`${ofClient}/grant`, (ctx) => endGrants(ctx, host, 'all of the person'))
  router.delete(`${ofClient}/token`, (ctx) => endGrants(ctx, host, 'this one'))
  return router
}

async function authorize(ctx: Context, host: Host, codes: Codes): Promise<void> {
  const asked = AuthorizeQuery.safeParse(ctx.query)
  if (!asked.success) {
    throw new Refusal(400, 'The address is missing client_id or redirect_uri, or repeats a parameter.')
  }
  const query = asked.data
  const app = clientWith(host, query.client_id)
  if (!app) throw new Refusal(404, 'No app with this client id is registered here.')
  const back = redirectAddress(query.redirect_uri, app)
  if (!back) {
    throw new Refusal(400, 'The redirect_uri is neither a loopback address nor registered for the app.')
  }
  if (query.code_challenge !== undefined && query.code_challenge_method !== 'S256') {
    throw new Refusal(400, 'code_challenge_method must be S256.')
  }

  const account = query.login === undefined ? undefined : personOf(query.login)
  if (!account) return showChoice(ctx, app, query, back)
  const code = codes.issue({
    clientId: app.clientId,
    login: account.login,
    redirectUri: query.redirect_uri,
    challenge: query.code_challenge,
  })
  await rememberBrowser(ctx, host, account)
  ctx.redirect(withParams(back, { code, state: query.state }))
}

function showChoice(ctx: Context, app: OAuthClient, query: AuthorizeQuery, back: URL): void {
  const { login, ...others } = query
  const again = new URLSearchParams(present(others))
  const { name } = app
  show(ctx, login === undefined ? 200 : 400, {
    title: `Sign in to ${name}`,
    bar: 'none',
    content: authorizePage({
      appName: name,
      error: login === undefined ? undefined : `There is no account "${login}" here.`,
      returnHost: back.host,
      addressFor: (chosen) => `/login/oauth/authorize?${again}&login=${chosen}`,
      cancelAddress: withParams(back, {
        error: 'access_denied',
        error_description: 'The user has denied your application access.',
        state: query.state,
      }),
    }),
  })
}

function redirectAddress(text: string, app: OAuthClient): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.username !== '' || url.password !== '' || url.hash !== '') return undefined
  const loopback = url.protocol === 'http:' && isLoopback(url.hostname)
  return loopback || app.callbackUrls.includes(text) ? url : undefined
}

/** The address with these parameters in its query. Parameters that are `undefined` are left out. */
export function withParams(url: URL, params: Readonly<Record<string, string | undefined>>): string {
  const address = new URL(url)
  for (const [name, value] of present(params)) address.searchParams.set(name, value)
  return address.toString()
}

const present = (params: Readonly<Record<string, string | undefined>>): [string, string][] =>
  Object.entries(params).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))

/** GitHub's answers to refused requests for tokens. Their status is 200. */
const faults = {
  incorrect_client_credentials: {
    error: 'incorrect_client_credentials',
    error_description: 'The client_id and/or client_secret passed are incorrect.',
  },
  redirect_uri_mismatch: {
    error: 'redirect_uri_mismatch',
    error_description: 'The redirect_uri MUST match the registered callback URL for this application.',
  },
  bad_verification_code: {
    error: 'bad_verification_code',
    error_description: 'The code passed is incorrect or expired.',
  },
  bad_refresh_token: {
    error: 'bad_refresh_token',
    error_description: 'The refresh token passed is incorrect or expired.',
  },
  unsupported_grant_type: {
    error: 'unsupported_grant_type',
    error_description: 'The grant_type must be authorization_code or refresh_token.',
  },
} as const

type TokenAnswer = Readonly<Record<string, string | number>>

async function issueTokens(host: Host, codes: Codes, request: TokenRequest): Promise<TokenAnswer> {
  const app = appWith(host, request.client_id, request.client_secret)
  if (!app) return faults.incorrect_client_credentials
  switch (request.grant_type) {
    case undefined:
    case 'authorization_code': {
      const pending = codes.take(request.code ?? '')
      if (pending?.clientId !== app.clientId || !proves(pending.challenge, request.code_verifier))
        return faults.bad_verification_code
      const { redirectUri = request.redirect_uri } = pending
      if (request.redirect_uri !== undefined && request.redirect_uri !== redirectUri) {
        return faults.redirect_uri_mismatch
      }
      return grant(host, app, pending.login, undefined)
    }
    case 'refresh_token':
      return grant(host, app, undefined, request.refresh_token ?? '')
    default:
      return faults.unsupported_grant_type
  }
}

/** Creates a pair of tokens for `login`. With `refreshToken`, they replace the pair to which the refresh token belongs. */
function grant(
  host: Host,
  { clientId }: OAuthClient,
  login: string | undefined,
  refreshToken: string | undefined,
): Promise<TokenAnswer> {
  const issued = { access: newToken('ghu_'), refresh: newToken('ghr_') }
  return host.store.update((state) => {
    const now = host.clock.now()
    const found = refreshToken === undefined ? undefined : grantByRefresh(state, refreshToken, now)
    const used = found?.clientId === clientId ? found : undefined
    const person = login ?? used?.login
    if (person === undefined) return [state, faults.bad_refresh_token]
    const rest = used ? withoutGrants(state, (one) => one.refreshHash === used.refreshHash) : state
    const answer: TokenAnswer = {
      access_token: issued.access,
      expires_in: accessLife / 1000,
      refresh_token: issued.refresh,
      refresh_token_expires_in: refreshLife / 1000,
      token_type: 'bearer',
      scope: '',
    }
    return [withGrant(rest, issued, { login: person, clientId }, now), answer]
  })
}

/** The check of PKCE: whether the challenge is the hash of the verifier. Without a challenge, no verifier is needed. */
function proves(challenge: string | undefined, verifier: string | undefined): boolean {
  if (challenge === undefined) return true
  if (verifier === undefined) return false
  return sameSecret(createHash('sha256').update(verifier).digest('base64url'), challenge)
}

function answerToken(ctx: Context, answer: TokenAnswer): void {
  if (ctx.accepts('application/json') && /json/.test(ctx.get('Accept'))) {
    ctx.body = answer
    return
  }
  ctx.type = 'application/x-www-form-urlencoded'
  const texts = Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, String(value)]))
  ctx.body = new URLSearchParams(texts).toString()
}

async function endGrants(ctx: Context, host: Host, which: 'this one' | 'all of the person'): Promise<void> {
  const given = basicCredentials(ctx)
  const app = given && appWith(host, given.name, given.password)
  if (!app) throw notFound()
  const body = EndGrant.safeParse(ctx.request.body)
  if (!body.success) {
    throw invalid({ resource: 'OauthAccess', field: 'access_token', code: 'missing_field' })
  }
  const person = await host.store.update((state) => {
    const grant = grantOfAccess(state, body.data.access_token)
    if (grant?.clientId !== app.clientId) throw notFound()
    const { login, clientId } = grant
    const all = state.grants.filter((one) => one.login === login && one.clientId === clientId)
    const ended = which === 'this one' ? [grant] : all
    return [withoutGrants(state, (one) => ended.includes(one)), personOf(login)]
  })
  if (which === 'all of the person' && person) host.extension.accessEnded?.(app.clientId, person)
  ctx.status = 204
}

function clientWith({ client, extension }: Host, clientId: string): OAuthClient | undefined {
  if (extension.clientWith) return extension.clientWith(clientId)
  return client.clientId === clientId ? client : undefined
}

/** The client with this id, if the secret is correct. */
function appWith(host: Host, clientId: string, secret: string): OAuthClient | undefined {
  const app = clientWith(host, clientId)
  return app?.hasSecret(secret) ? app : undefined
}

/** Compares two secrets in constant time. */
export function sameSecret(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
