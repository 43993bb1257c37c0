/** Finding out how to sign in, and getting tokens, at servers that answer in unusual ways. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { ruleOfCodeHost } from '#platform/http/egressRules.ts'
import { mcpOAuth } from './oauth.ts'
import { mcpSignIns } from './signIns.ts'

let clean: (() => void)[] = []
afterEach(() => {
  for (const step of clean) step()
  clean = []
})

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  clean.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens at no port.')
  return `http://127.0.0.1:${address.port}`
}

const oidc = '/.well-known/openid-configuration'
const token = { access_token: 'access-of-the-test', token_type: 'Bearer' }

/** A server that has metadata at the paths named, and answers like `unknown` elsewhere. */
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

/** Signed with an algorithm that a server does not have to name. */
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

test('consent is asked for when access is needed offline', async () => {
  const origin = await issuer(notFound)
  const stored = new Map<string, string>()
  const vault = {
    getSecret: async (scope: string, name: string) => stored.get(`${scope} ${name}`),
    putSecret: async (scope: string, name: string, value: string) =>
      void stored.set(`${scope} ${name}`, value),
    removeSecret: async () => undefined,
  }
  const leases = {
    hold: () => {
      throw new Error('Nothing is renewed.')
    },
  }
  const { begin } = mcpSignIns({ vault, leases, clock }, network)
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
