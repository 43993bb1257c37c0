/** OAuth 2.1 for remote MCP servers, as MCP's specification of authorization describes it: finds the authorization server, and gets tokens. */
import * as oauth from 'oauth4webapi'
import { z } from 'zod'
import { isPrivateNumeric } from '#platform/credentials/modelKeys.ts'
import { ruleOfCodeHost } from '#platform/http/egressRules.ts'
import { jsonOf } from '#platform/json.ts'
import { McpFault, remoteOf, wholeText, type McpNetwork } from './remoteRequest.ts'

export const mcpNetwork = (
  { privateEgress }: { readonly privateEgress: boolean },
  codeHostUrl: string,
): McpNetwork => ({
  mayReachPrivate: privateEgress,
  codeHost: ruleOfCodeHost(`${codeHostUrl}/any/repository`, []),
})

/** The stored data about an authorization server, and about us as its client. */
export const Provider = z.object({
  /** The resource for which the tokens are valid (RFC 8707). */
  resource: z.string(),
  server: z.object({
    issuer: z.string(),
    authorization_endpoint: z.string(),
    token_endpoint: z.string(),
    revocation_endpoint: z.string().exactOptional(),
    authorization_response_iss_parameter_supported: z.boolean().exactOptional(),
  }),
  client: z.object({
    client_id: z.string(),
    client_secret: z.string().exactOptional(),
    token_endpoint_auth_method: z.string().exactOptional(),
  }),
})
export type Provider = z.infer<typeof Provider>

/** A token, which has at least 8 characters: a shorter one could not be redacted without redacting ordinary words. */
const Token = z
  .string()
  .min(8)
  .max(8_192)
  .regex(/^[\x21-\x7e]+$/)

export const Tokens = z.object({ access: Token, refresh: Token.nullable(), expiresAt: z.number().nullable() })
export type Tokens = z.infer<typeof Tokens>

/** Thrown when the authorization server has ended the sign-in. Only a person can start a new one. */
export class SignInEnded extends McpFault {}

export interface OAuth {
  /** Finds the authorization server of the MCP server at `url`. Registers our client at the authorization server, unless `clientId` is given. */
  discover(
    url: string,
    registration: { readonly clientId: string | null; readonly redirectUri: string },
  ): Promise<{ readonly provider: Provider; readonly scope: string | undefined }>
  exchange(provider: Provider, answer: CodeAnswer): Promise<Tokens>
  refresh(provider: Provider, refreshToken: string): Promise<Tokens>
  /** Revokes the token, if the server supports that. */
  revoke(provider: Provider, token: string): Promise<void>
}

export interface CodeAnswer {
  readonly query: URLSearchParams
  readonly state: string
  readonly verifier: string
  readonly redirectUri: string
}

/** How long the head of an authorization server's answer may take. The whole answer may take `bodyWithinMs` longer. */
const answerWithinMs = 10_000
const bodyWithinMs = 5_000
/** The time limit of `discover`, below the 30 seconds after which the person's own request is cut off. */
const discoverWithinMs = 25_000

/** Makes the client for OAuth. All its functions throw `McpFault` with a sentence that holds nothing secret. */
export function mcpOAuth(network: McpNetwork, now: () => Date, withinMs = discoverWithinMs): OAuth {
  const ask = guardedFetch(network)
  const options = askedBy(ask)
  const aimedAt = ({ resource }: Provider) => ({
    ...askedBy(async (...asked) => withoutIdToken(await ask(...asked))),
    additionalParameters: { resource },
  })

  async function authorizationServer(issuer: URL, by: Options): Promise<oauth.AuthorizationServer> {
    const read = async (algorithm: 'oauth2' | 'oidc') =>
      oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...by, algorithm }))
    // A server without this metadata may answer with a page or a redirect, so `oidc` is tried after any failure.
    return read('oauth2').catch(() => read('oidc'))
  }

  async function registered(server: oauth.AuthorizationServer, redirectUri: string, by: Options) {
    if (server.registration_endpoint === undefined)
      throw new McpFault(
        `${hostOf(server.issuer)} registers no clients by itself. Register one there, and enter its client ID.`,
      )
    const metadata = {
      client_name: 'Flightdeck',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
    const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, by)
    return oauth.processDynamicClientRegistrationResponse(answer)
  }

  function tokensIn(answer: oauth.TokenEndpointResponse, before: string | null): Tokens {
    const { access_token: access, token_type, refresh_token: refresh = before, expires_in } = answer
    const expiresAt = expires_in === undefined ? null : now().getTime() + expires_in * 1_000
    const tokens = Tokens.safeParse({ access, refresh, expiresAt })
    if (token_type !== 'bearer' || !tokens.success) throw new McpFault(unusable)
    return tokens.data
  }

  return {
    discover: (url, { clientId, redirectUri }) =>
      told(async () => {
        const askInTime = guardedFetch(network, AbortSignal.timeout(withinMs))
        const by = askedBy(askInTime)
        const { resource, issuer, scopes } = await resourceOf(url, askInTime)
        const server = await authorizationServer(new URL(issuer), by)
        if (server.code_challenge_methods_supported?.includes('S256') !== true)
          throw new McpFault(`${hostOf(issuer)} does not offer PKCE, which MCP requires.`)
        const client =
          clientId === null
            ? await registered(server, redirectUri, by)
            : { client_id: clientId, token_endpoint_auth_method: 'none' }
        const provider = Provider.parse({ resource, server, client })
        refuseInsecure(provider.server.authorization_endpoint)
        // Without this scope, many servers give no refresh token.
        const renews = server.scopes_supported?.includes('offline_access') === true
        const scope =
          scopes.length === 0 ? [] : [...new Set([...scopes, ...(renews ? ['offline_access'] : [])])]
        return { provider, scope: scope.length === 0 ? undefined : scope.join(' ') }
      }),
    exchange: (provider, { query, state, verifier, redirectUri }) =>
      told(async () => {
        const { server, client } = provider
        const checked = oauth.validateAuthResponse(server, client, query, state)
        const args = [server, client, authOf(client), checked, redirectUri, verifier] as const
        const response = await oauth.authorizationCodeGrantRequest(...args, aimedAt(provider))
        return tokensIn(await oauth.processAuthorizationCodeResponse(server, client, response), null)
      }),
    refresh: (provider, refreshToken) =>
      told(async () => {
        const { server, client } = provider
        const args = [server, client, authOf(client), refreshToken] as const
        const response = await oauth.refreshTokenGrantRequest(...args, aimedAt(provider))
        return tokensIn(await oauth.processRefreshTokenResponse(server, client, response), refreshToken)
      }),
    revoke: ({ server, client }, token) =>
      told(async () => {
        if (server.revocation_endpoint === undefined) return
        const response = await oauth.revocationRequest(server, client, authOf(client), token, options)
        await oauth.processRevocationResponse(response)
      }),
  }
}

const unusable = 'The authorization server gave an answer that cannot be used.'

/** The error codes after which another attempt would fail too. */
const endings = /^(invalid_grant|invalid_client|unauthorized_client)$/

/** Converts faults of the protocol to sentences, as the faults themselves may hold tokens. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    if (fault instanceof McpFault) throw fault
    if (fault instanceof oauth.AuthorizationResponseError)
      throw new McpFault(
        fault.error === 'access_denied' ? 'Access was not given.' : `It was refused (${plain(fault.error)}).`,
      )
    if (fault instanceof oauth.ResponseBodyError) {
      const sentence = `The authorization server refused (${plain(fault.error)}).`
      throw endings.test(fault.error) ? new SignInEnded(sentence) : new McpFault(sentence)
    }
    throw new McpFault(unusable)
  }
}

const plain = (code: string) => (/^[a-z_]{1,40}$/.test(code) ? code : 'unknown')
const hostOf = (address: string) => new URL(address).host

function authOf({ client_secret: secret, token_endpoint_auth_method: method }: Provider['client']) {
  if (secret === undefined || method === 'none') return oauth.None()
  return method === 'client_secret_post' ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}

type Ask = (
  url: string,
  request: {
    readonly method: string
    readonly headers: Record<string, string>
    readonly body?: URLSearchParams | string | undefined
  },
) => Promise<Response>

const askedBy = (ask: Ask) => ({ [oauth.customFetch]: ask, [oauth.allowInsecureRequests]: true })
type Options = ReturnType<typeof askedBy>

/** Returns the response without the ID token. Nothing uses this token, and checking it could fail. */
async function withoutIdToken(response: Response): Promise<Response> {
  const body = z.looseObject({}).safeParse(jsonOf(await response.text()))
  return new Response(JSON.stringify({ ...body.data, id_token: undefined }), response)
}

/**
 * Sends requests in the same way as to MCP servers: to allowed addresses, without following redirects, within limits; and only to addresses that
 * `refuseInsecure` accepts.
 */
function guardedFetch(network: McpNetwork, limit?: AbortSignal): Ask {
  return async (address, { method, headers, body }) => {
    refuseInsecure(address)
    const { host } = new URL(address)
    const remote = remoteOf({ url: address, header: null, network })
    try {
      const response = await remote.askOnce({
        method: method === 'POST' ? 'POST' : 'GET',
        headers,
        ...(body && { body: body.toString() }),
        answerWithinMs,
        signal: AbortSignal.any([
          AbortSignal.timeout(answerWithinMs + bodyWithinMs),
          ...(limit ? [limit] : []),
        ]),
      })
      const { 'content-type': type = '', 'www-authenticate': challenge = '' } = response.headers
      // A stream is not read: it may have no end, and does not tell how to sign in.
      const text = type.startsWith('text/event-stream') ? '' : await wholeText(response)
      const { statusCode: status = 502 } = response
      const shown = { 'content-type': type, ...(challenge !== '' && { 'www-authenticate': challenge }) }
      return new Response(status === 204 ? null : text, { status, headers: shown })
    } catch (fault) {
      if (limit?.aborted) throw new McpFault(`${host}: It did not answer in time.`)
      throw new McpFault(`${host}: ${fault instanceof McpFault ? fault.message : 'Its answer broke off.'}`)
    } finally {
      remote.close()
    }
  }
}

/**
 * Throws for an address without TLS, except `localhost` and private ones in numbers. A browser opens the address of the sign-in page, so it must not
 * be a script either.
 */
function refuseInsecure(address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isPrivateNumeric(address))) return
  throw new McpFault('It leads to an address without TLS, where others could read the tokens.')
}

const Resource = z.object({
  resource: z.url(),
  authorization_servers: z.array(z.url()).min(1),
  scopes_supported: z.array(z.string()).optional(),
})

/** The authorization server that the MCP server names (RFC 9728); by default it is at the MCP server's own origin, as in older versions of MCP. */
async function resourceOf(url: string, ask: Ask) {
  const challenge = await challengeOf(url, ask)
  const stated = parameterIn(challenge, 'resource_metadata')
  const { origin, pathname } = new URL(url)
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const places = stated === undefined ? [`${wellKnown}${pathname}`.replace(/\/$/, ''), wellKnown] : [stated]
  for (const place of places) {
    const asked = ask(place, { method: 'GET', headers: { accept: 'application/json' } })
    // A server that has nothing at this place may answer with a redirect or a page, so the next place is tried.
    const response = await (stated === undefined ? asked.catch(() => undefined) : asked)
    const read = Resource.safeParse(jsonOf((await response?.text()) ?? ''))
    if (stated === undefined && (response?.status !== 200 || !read.success)) continue
    const [issuer] = read.data?.authorization_servers ?? []
    if (!read.success || issuer === undefined) throw new McpFault('Its metadata cannot be read.')
    // Without this check, an MCP server could make us request tokens for another server.
    if (!covers(read.data.resource, url)) throw new McpFault('Its metadata are those of another server.')
    const scopes = parameterIn(challenge, 'scope')?.split(' ') ?? read.data.scopes_supported ?? []
    return { resource: read.data.resource, issuer, scopes }
  }
  return { resource: url, issuer: origin, scopes: parameterIn(challenge, 'scope')?.split(' ') ?? [] }
}

function covers(resource: string, url: string): boolean {
  const [whole, part] = [new URL(resource), new URL(url)]
  const below = whole.pathname.endsWith('/') ? whole.pathname : `${whole.pathname}/`
  return whole.origin === part.origin && `${part.pathname}/`.startsWith(below)
}

async function challengeOf(url: string, ask: Ask): Promise<string> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'flightdeck', version: '1' },
  }
  const response = await ask(url, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  return response.headers.get('www-authenticate') ?? ''
}

function parameterIn(challenge: string, name: string): string | undefined {
  return new RegExp(`(?:^|[\\s,])${name}="([^"\\\\]{1,4000})"`, 'i').exec(challenge)?.[1]
}
