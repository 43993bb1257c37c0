/** An authorization server beside the tiny MCP server: registers clients, gives access at once, and lets a test end what it gave. */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { startRemoteMcp, type Answer, type RemoteMcp } from './remoteServer.ts'

export interface SignInServer extends RemoteMcp {
  /** All secrets that it gave out: codes and tokens. */
  readonly given: readonly string[]
  readonly registrations: readonly unknown[]
  readonly revoked: readonly string[]
  /** How often a refresh token was taken. */
  renewals(): number
  /** Refuses the access tokens that are out, as when they have expired. */
  expireAccess(): void
  /** Takes no refresh token that is out any more. */
  endRefresh(): void
}

export interface Behaviour {
  /** Seconds that an access token holds for. */
  expiresIn?: number
  /** What metadata of the authorization server say beside the usual, or instead. */
  metadata?: (origin: string) => Readonly<Record<string, unknown>>
  /** Of the protected resource. */
  resource?: (origin: string) => Readonly<Record<string, unknown>>
  /** The `iss` that comes with a code. */
  iss?: string
  /** Revocations are answered once so many wait; by default each at once. */
  revokedTogether?: number
  readonly paths?: Readonly<Record<string, Answer>>
}

/** `behaviour` may be changed while it runs. */
export async function startSignInServer(behaviour: Behaviour = {}): Promise<SignInServer> {
  const given: string[] = []
  const registrations: { readonly redirect_uris: readonly string[] }[] = []
  const revoked: string[] = []
  let revoking: ServerResponse[] = []
  const codes = new Map<
    string,
    { challenge: string; redirectUri: string; client: string; resource: string }
  >()
  const [access, refresh] = [new Set<string>(), new Set<string>()]
  let renewals = 0
  const fresh = (kind: string) => {
    const value = `swordfish-${kind}-${randomBytes(12).toString('base64url')}`
    given.push(value)
    return value
  }
  const tokens = (response: ServerResponse) => {
    const tokens = { access_token: fresh('access'), refresh_token: fresh('refresh') }
    access.add(tokens.access_token)
    refresh.add(tokens.refresh_token)
    json(response, 200, { ...tokens, token_type: 'Bearer', expires_in: behaviour.expiresIn ?? 3_600 })
  }
  const grant: Answer = (_request, response, body) => {
    const form = new URLSearchParams(body)
    const value = (name: string) => form.get(name) ?? ''
    if (value('grant_type') === 'refresh_token') {
      if (!refresh.delete(value('refresh_token'))) return json(response, 400, { error: 'invalid_grant' })
      renewals += 1
      return tokens(response)
    }
    const asked = codes.get(value('code'))
    codes.delete(value('code'))
    const isRight =
      asked?.challenge === createHash('sha256').update(value('code_verifier')).digest('base64url') &&
      asked.redirectUri === value('redirect_uri') &&
      asked.client === value('client_id') &&
      asked.resource === value('resource')
    return isRight ? tokens(response) : json(response, 400, { error: 'invalid_grant' })
  }
  const server = await startRemoteMcp(
    {
      accepts: (authorization) => access.has(authorization.replace(/^Bearer /, '')),
      challenge: (origin) =>
        `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="tools"`,
    },
    {
      '/.well-known/oauth-protected-resource/mcp': (request, response) => {
        const origin = originOf(request)
        const usual = { resource: `${origin}/mcp`, authorization_servers: [`${origin}/issuer`] }
        json(response, 200, { ...usual, ...behaviour.resource?.(origin) })
      },
      '/.well-known/oauth-authorization-server/issuer': (request, response) => {
        const origin = originOf(request)
        json(response, 200, {
          issuer: `${origin}/issuer`,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          revocation_endpoint: `${origin}/revoke`,
          code_challenge_methods_supported: ['S256'],
          scopes_supported: ['tools', 'offline_access'],
          authorization_response_iss_parameter_supported: true,
          ...behaviour.metadata?.(origin),
        })
      },
      '/register': (_request, response, body) => {
        const metadata = JSON.parse(body)
        registrations.push(metadata)
        json(response, 201, { ...metadata, client_id: `client-${registrations.length}` })
      },
      '/authorize': (request, response) => {
        const asked = new URL(request.url ?? '', originOf(request)).searchParams
        const value = (name: string) => asked.get(name) ?? ''
        const client = registrations[Number(value('client_id').slice('client-'.length)) - 1]
        if (value('client_id') !== 'entered' && !client?.redirect_uris.includes(value('redirect_uri')))
          return json(response, 400, { error: 'invalid_request' })
        const code = fresh('code')
        codes.set(code, {
          challenge: value('code_challenge'),
          redirectUri: value('redirect_uri'),
          client: value('client_id'),
          resource: value('resource'),
        })
        const back = new URL(value('redirect_uri'))
        back.searchParams.set('code', code)
        back.searchParams.set('state', value('state'))
        back.searchParams.set('iss', behaviour.iss ?? `${originOf(request)}/issuer`)
        response.writeHead(302, { location: back.href }).end()
      },
      '/token': grant,
      '/revoke': (_request, response, body) => {
        revoked.push(new URLSearchParams(body).get('token') ?? '')
        revoking.push(response)
        if (revoking.length < (behaviour.revokedTogether ?? 1)) return
        for (const one of revoking) one.writeHead(200).end()
        revoking = []
      },
      ...behaviour.paths,
    },
  )
  return {
    ...server,
    given,
    registrations,
    revoked,
    renewals: () => renewals,
    expireAccess: () => access.clear(),
    endRefresh: () => refresh.clear(),
  }
}

const originOf = ({ headers }: IncomingMessage) => `http://${headers.host}`

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
