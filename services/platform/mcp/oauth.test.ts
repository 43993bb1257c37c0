/** Finding out how to sign in, and getting tokens, at servers that answer in unusual ways. */
import type { RequestListener } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { mcpScope } from '#platform/credentials/projectSecrets.ts'
import { ruleOfCodeHost } from '#platform/http/egressRules.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import { listening } from '../../../tests/listening.ts'
import { createGate } from '../../../tests/standins/messagesApi.ts'
import { mcpOAuth } from './oauth.ts'
import { mcpSignIns } from './signIns.ts'

const oidc = '/.well-known/openid-configuration'
const token = { access_token: 'access-of-the-test', token_type: 'Bearer' }

/** Starts an authorization server that has metadata at `metadataAt`, and answers all other requests with `unknown`. */
async function issuer(unknown: RequestListener, metadataAt = oidc): Promise<string> {
  const origin: string = await listening((request, response) => {
    const json = (body: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.url === metadataAt)
      return json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        code_challenge_methods_supported: ['S256'],
        scopes_supported: ['tools', 'offline_access'],
      })
    if (request.url === '/token') return json({ ...token, id_token: idToken(origin) })
    if (request.url === '/mcp')
      return response.writeHead(401, { 'www-authenticate': 'Bearer scope="tools"' }).end()
    unknown(request, response)
  })
  return origin
}

/** An ID token that is signed with ES256, an algorithm that the server's metadata do not name. */
function idToken(iss: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const now = Math.floor(Date.now() / 1_000)
  const claims = { iss, sub: 'ada', aud: 'entered', iat: now, exp: now + 600 }
  return `${part({ alg: 'ES256' })}.${part(claims)}.${Buffer.alloc(64).toString('base64url')}`
}

const codeHost = ruleOfCodeHost('http://127.0.0.1:1/ada/engine', [])
const network = { mayReachPrivate: true, codeHost }
const client = { clientId: 'entered', redirectUri: 'http://127.0.0.1/mcp/callback' }
const notFound: RequestListener = (_request, response) => response.writeHead(404).end()
const clock = { now: () => new Date() }

describe('an authorization server is found', () => {
  const page: RequestListener = (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
  const redirect: RequestListener = (_request, response) =>
    response.writeHead(302, { location: '/login' }).end()
  test.each([
    ['a page', page],
    ['a redirect', redirect],
    ['404', notFound],
  ])('where unknown paths give %s', async (_, unknown) => {
    const origin = await issuer(unknown)
    const { discover } = mcpOAuth(network, clock.now)
    const { provider } = await discover(`${origin}/mcp`, client)
    expect(provider.server.token_endpoint).toBe(`${origin}/token`)
  })
})

test('an ID token, which is not used, is not checked', async () => {
  const origin = await issuer(notFound)
  const { discover, exchange, refresh } = mcpOAuth(network, clock.now)
  const { provider } = await discover(`${origin}/mcp`, client)
  const query = new URLSearchParams({ code: 'a-code', state: 'a-state' })
  const answer = { query, state: 'a-state', verifier: 'v'.repeat(43), redirectUri: client.redirectUri }
  expect(await exchange(provider, answer)).toMatchObject({ access: token.access_token })
  expect(await refresh(provider, 'refresh-of-the-test')).toMatchObject({ access: token.access_token })
})

function emptyVault() {
  const stored = new Map<string, string>()
  return {
    getSecret: async (scope: string, name: string) => stored.get(`${scope} ${name}`),
    putSecret: async (scope: string, name: string, value: string) =>
      void stored.set(`${scope} ${name}`, value),
    removeSecret: async (scope: string, name: string) => void stored.delete(`${scope} ${name}`),
  }
}

test('consent is asked for when access is needed offline', async () => {
  const origin = await issuer(notFound)
  const leases = {
    hold: () => {
      throw new Error('Nothing is renewed.')
    },
  }
  const { begin } = mcpSignIns({ vault: emptyVault(), leases, clock }, network)
  const place = { of: 'person', id: 'ada', serverId: 'tiny', name: 'tiny', url: `${origin}/mcp` } as const
  const page = new URL(await begin(place, { userId: 'ada', sessionId: 's' }, client))
  expect(page.searchParams.get('scope')).toBe('tools offline_access')
  expect(page.searchParams.get('prompt')).toBe('consent')
})

test.each([false, true])(
  'the local code host is not asked (private addresses: %s)',
  async (mayReachPrivate) => {
    let asked = 0
    const origin = await issuer((request, response) => {
      asked += 1
      notFound(request, response)
    }, '/nowhere')
    const own = ruleOfCodeHost(`${origin}/ada/engine`, [])
    const { discover } = mcpOAuth({ mayReachPrivate, codeHost: own }, clock.now)
    await expect(discover(`${origin}/login?x=1`, client)).rejects.toThrow(/own network/)
    expect(asked).toBe(0)
  },
)

test('a server that does not answer is given up in time', async () => {
  const origin = await listening(() => undefined)
  const { discover } = mcpOAuth(network, clock.now, 50)
  await expect(discover(`${origin}/mcp`, client)).rejects.toThrow(/did not answer in time/)
})

/** A vault with a sign-in of Ada at the server `tiny`, whose access token has expired. */
async function vaultOfExpired(origin: string) {
  const vault = emptyVault()
  const provider = {
    resource: `${origin}/mcp`,
    server: {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/revoke`,
    },
    client: { client_id: 'entered', token_endpoint_auth_method: 'none' },
  }
  const tokens = { access: 'access-that-expired', refresh: 'refresh-of-the-sign-in', expiresAt: 0 }
  const signIn = { url: `${origin}/mcp`, provider, since: '2026-11-20T10:00:00Z', tokens }
  await vault.putSecret(mcpScope('ada'), 'sign-in:tiny', JSON.stringify(signIn))
  return vault
}

const freeLeases = {
  hold: (_name: string, start: () => Promise<unknown>) => {
    void start()
    return { stop: async () => undefined }
  },
}

test('tokens that a renewal brings after the sign-in was ended are revoked, and not kept', async () => {
  const renewal = createGate()
  const revoked: unknown[] = []
  const origin = await listening(async (request, response) => {
    const body = new URLSearchParams(await text(request))
    if (request.url === '/revoke') {
      revoked.push(body.get('token'))
      return void response.writeHead(200).end()
    }
    renewal.arrive()
    await renewal.released
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...token, refresh_token: 'refresh-of-the-renewal' }))
  })
  const vault = await vaultOfExpired(origin)
  const signIns = mcpSignIns({ vault, leases: freeLeases, clock }, network)
  const renewed = signIns.token({ id: 'ada', serverId: 'tiny', name: 'tiny', url: `${origin}/mcp` })
  await renewal.reached
  await signIns.end('ada', 'tiny')
  renewal.release()
  await expect(renewed).rejects.toThrow('Sign in to tiny again.')
  expect(revoked).toEqual(['refresh-of-the-sign-in', 'refresh-of-the-renewal'])
  expect(await vault.getSecret(mcpScope('ada'), 'sign-in:tiny')).toBeUndefined()
})

test('a renewed token that the vault does not store at once is used and stored later, for the old one works no more', async () => {
  const used: unknown[] = []
  const origin = await listening(async (request, response) => {
    used.push(new URLSearchParams(await text(request)).get('refresh_token'))
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...token, refresh_token: 'refresh-of-the-renewal' }))
  })
  const vault = await vaultOfExpired(origin)
  let isAway = true
  const putSecret: typeof vault.putSecret = (...secret) =>
    isAway ? Promise.reject(new EngineUnavailable('the vault')) : vault.putSecret(...secret)
  const signIns = mcpSignIns({ vault: { ...vault, putSecret }, leases: freeLeases, clock }, network)
  const renewed = () => signIns.token({ id: 'ada', serverId: 'tiny', name: 'tiny', url: `${origin}/mcp` })
  await expect(renewed()).rejects.toThrow(EngineUnavailable)
  isAway = false
  expect(await renewed()).toBe(token.access_token)
  expect(used).toEqual(['refresh-of-the-sign-in'])
  expect(await vault.getSecret(mcpScope('ada'), 'sign-in:tiny')).toContain('refresh-of-the-renewal')
})
