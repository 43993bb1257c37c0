/** Tokens of installations: a request for one account never waits for another account's, and none waits for ever. */
import { createServer, type Server } from 'node:http'
import { generateKeyPairSync } from 'node:crypto'
import { Octokit } from '@octokit/rest'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { AppRegistration } from '#platform/ports/codeHostApp.ts'
import { githubApps } from './githubApps.ts'
import { requestsTo, type Requests } from './request.ts'

let app: AppRegistration
beforeAll(() => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  app = {
    appId: '42',
    slug: 'flightdeck',
    name: 'Flightdeck',
    htmlUrl: null,
    clientId: 'Iv1.a',
    clientSecret: 'a secret',
    privateKey,
    webhookSecret: null,
  }
})

let server: Server | undefined
afterEach(async () => {
  vi.useRealTimers()
  server?.closeAllConnections()
  await new Promise<void>((closed) => (server ? server.close(() => closed()) : closed()))
  server = undefined
})

/** Starts a code host that answers requests for tokens only when `atOnce` of them are waiting. Returns its address. */
async function hostOfTokens(atOnce: number): Promise<string> {
  const waiting: (() => void)[] = []
  const listening = createServer((request, response) => {
    const [, installation] = /installations\/(\d+)\/access_tokens/.exec(request.url ?? '') ?? []
    waiting.push(() => {
      response.writeHead(201, { 'content-type': 'application/json' })
      const expires = new Date(Date.now() + 3_600_000).toISOString()
      response.end(
        JSON.stringify({
          token: `ghs_${installation}`,
          expires_at: expires,
          permissions: { contents: 'write' },
        }),
      )
    })
    if (waiting.length === atOnce) for (const answer of waiting.splice(0)) answer()
  })
  server = listening
  await new Promise<void>((ready) => listening.listen(0, '127.0.0.1', ready))
  const at = listening.address()
  return `http://127.0.0.1:${typeof at === 'object' && at !== null ? at.port : 0}`
}

const tokenOf = (installationId: string) =>
  ({ installationId, repositoryId: '7', permissions: { contents: 'write' } }) as const

test('a token of one installation is made while another is being made', async () => {
  const apiUrl = await hostOfTokens(3)
  const requests = requestsTo({ apiUrl, serverUrl: apiUrl, paced: true })
  const apps = githubApps({ serverUrl: apiUrl, requests, app: async () => app })
  const tokens = ['1', '2', '3'].map((installation) => apps.installationToken(tokenOf(installation)))
  expect(await Promise.all(tokens)).toEqual(['ghs_1', 'ghs_2', 'ghs_3'])
})

test('a host that never answers is unavailable after 20 s', async () => {
  const silent = () => new Octokit({ request: { fetch: () => new Promise(() => undefined) } })
  const requests: Requests = {
    ...requestsTo({ apiUrl: 'https://api.github.com', serverUrl: 'https://github.com', paced: false }),
    octokit: silent,
    unpaced: silent,
  }
  const apps = githubApps({ serverUrl: 'https://github.com', requests, app: async () => app })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const asked = apps.installationToken(tokenOf('1')).catch((fault: unknown) => fault)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(await asked).toMatchObject({ name: 'CodeHostFault', kind: 'unavailable' })
})
