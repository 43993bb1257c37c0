/** Apps at the local code host, as Octokit uses them: who they are, where they are installed, and what their tokens can reach. */
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/rest'
import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { appToken, askRest, signedBy } from './codeHost.apps.fixture.ts'
import { signIn, startLocal, temporaryFolder, type Folder, type LocalCodeHost } from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas('github-openapi-apps.json')
const Token = z.object({ token: z.string(), expires_at: z.string() })
const Ids = z.object({ repositories: z.array(z.object({ full_name: z.string(), id: z.number() })) })

/** The installation at ada's, whose id is hers. */
const atAda = 1001
let folder: Folder
let local: LocalCodeHost
let ada: string
let grace: string

beforeAll(async () => {
  folder = await temporaryFolder()
  local = await startLocal(join(folder.path, 'data'))
  ada = (await signIn(local.codeHost, 'ada')).accessToken
  grace = (await signIn(local.codeHost, 'grace')).accessToken
  await local.codeHost.createRepository(ada, { name: 'engine', description: '', isPrivate: false })
})
afterAll(async () => {
  await local.stop()
  await folder.remove()
})

type Options = NonNullable<Parameters<typeof askRest>[2]>
const ask = (method: string, path: string, options: Options = {}) =>
  askRest(local.api, [method, path], options)
const asApp = async (method: string, path: string, options: Options = {}) =>
  ask(method, path, { ...options, token: await appToken(local) })

/** A token of ada's installation. */
async function mint(body: unknown = {}, headers: Record<string, string> = {}, id = atAda): Promise<string> {
  const { json } = await asApp('POST', `/app/installations/${id}/access_tokens`, { body, headers })
  return Token.parse(json).token
}

async function repositoryId(token: string, fullName: string): Promise<number> {
  const { json } = await ask('GET', '/installation/repositories?per_page=100', { token })
  const found = Ids.parse(json).repositories.find(({ full_name: name }) => name === fullName)
  if (!found) throw new Error(`${fullName} is not there`)
  return found.id
}

describe("answers are as GitHub's own description says", () => {
  const own = 'the App'
  test.each<[operation: string, status: number, path: string, who: string, body?: unknown]>([
    ['GET /app', 200, '/app', own],
    ['GET /apps/{app_slug}', 200, '/apps/flightdeck', 'ada'],
    ['GET /app/installations', 200, '/app/installations', own],
    ['GET /app/installations/{installation_id}', 200, `/app/installations/${atAda}`, own],
    [
      'POST /app/installations/{installation_id}/access_tokens',
      201,
      `/app/installations/${atAda}/access_tokens`,
      own,
      { repositories: ['engine'], permissions: { contents: 'read' } },
    ],
    ['GET /repos/{owner}/{repo}/installation', 200, '/repos/ada/engine/installation', own],
    ['GET /orgs/{org}/installation', 200, '/orgs/acme/installation', own],
    ['GET /users/{username}/installation', 200, '/users/grace/installation', own],
    ['PATCH /app/hook/config', 200, '/app/hook/config', own, { url: 'https://example.com/x', secret: 's' }],
    ['GET /app/hook/config', 200, '/app/hook/config', own],
    ['GET /installation/repositories', 200, '/installation/repositories', 'an installation'],
    ['GET /user/installations', 200, '/user/installations', 'ada'],
    [
      'GET /user/installations/{installation_id}/repositories',
      200,
      `/user/installations/${atAda}/repositories`,
      'ada',
    ],
    ['GET /users/{username}', 200, '/users/flightdeck%5Bbot%5D', 'an installation'],
    ['GET /users/{username}', 200, '/users/ada', 'ada'],
    ['GET /rate_limit', 200, '/rate_limit', 'ada'],
  ])('%s %i', async (operation, status, path, who, body) => {
    const token = who === own ? await appToken(local) : who === 'ada' ? ada : await mint()
    const method = operation.split(' ')[0] ?? ''
    const answer = await ask(method, path, { token, ...(body === undefined ? {} : { body }) })
    expect(answer).toMatchObject({ status })
    const validate = schemaOf(operation, status)
    validate(answer.json)
    expect(validate.errors ?? []).toEqual([])
    expect(Array.isArray(answer.json) && answer.json.length === 0).toBe(false)
    // The other way round: what is not as described is noticed.
    expect(validate(Array.isArray(answer.json) ? [{ id: 'x' }] : 'x')).toBe(false)
  })
})

describe('an App is known by its own token', () => {
  const now = Math.floor(Date.now() / 1000)
  test.each<[string, Record<string, unknown>, number, string | RegExp]>([
    ['that is over', { exp: now - 1 }, 401, /'exp'\) must be a numeric value/],
    ['that lasts for an hour', { exp: now + 3_600 }, 401, /'exp'\) is too far in the future/],
    ['from tomorrow', { iat: now + 86_400, exp: now + 500 }, 401, /'iat'\)/],
    ['of nobody', { iss: undefined }, 401, /Missing 'issuer'/],
    ['of an App that is not here', { iss: 'Iv1.other' }, 404, 'Integration not found'],
  ])('one %s is refused', async (_, claims, status, message) => {
    const answer = await ask('GET', '/app', { token: await appToken(local, claims) })
    expect(answer).toMatchObject({ status, json: { message: expect.stringMatching(message) } })
  })

  test('one that another key signed, or another algorithm, or nobody, is refused', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const other = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    const right = await appToken(local)
    const [header = '', payload = ''] = right.split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    for (const token of [
      await signedBy(other, { iss: local.app?.clientId }),
      await signedBy(local.app?.privateKey ?? '', { iss: local.app?.clientId }, 'RS512'),
      `${none}.${payload}.`,
      `${header}.${payload}.AAAA`,
      'no token',
      ada,
    ]) {
      expect(await ask('GET', '/app', { token })).toMatchObject({
        status: 401,
        json: { message: 'A JSON web token could not be decoded' },
      })
    }
    expect(await ask('GET', '/app')).toMatchObject({ status: 401 })
    expect(await ask('GET', '/user', { token: right })).toMatchObject({ status: 401 })
  })

  test('its id counts as its client id does', async () => {
    for (const iss of [local.app?.id, String(local.app?.id)]) {
      const answer = await ask('GET', '/app', { token: await appToken(local, { iss }) })
      expect(answer).toMatchObject({ status: 200, json: { slug: 'flightdeck', installations_count: 5 } })
    }
  })
})

describe('tokens of installations', () => {
  test('Octokit mints one and acts as the bot', async () => {
    const octokit = new Octokit({
      baseUrl: local.api,
      authStrategy: createAppAuth,
      auth: { appId: local.app?.clientId, privateKey: local.app?.privateKey, installationId: atAda },
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
    const { data } = await octokit.rest.apps.listReposAccessibleToInstallation()
    expect(data.repositories.map((one) => one.full_name)).toContain('ada/notes')
    const { data: bot } = await octokit.rest.users.getByUsername({ username: 'flightdeck[bot]' })
    expect(bot).toMatchObject({ type: 'Bot', login: 'flightdeck[bot]' })
    await expect(octokit.rest.users.getAuthenticated()).rejects.toMatchObject({ status: 403 })
    await expect(octokit.rest.users.getByUsername({ username: 'nobody[bot]' })).rejects.toMatchObject({
      status: 404,
    })
  })

  test('are of the long shape when the request or the host says so, and do the same', async () => {
    const short = await mint()
    expect(short).toMatch(/^ghs_[A-Za-z0-9]{36}$/)
    const long = await mint({}, { 'X-GitHub-Stateless-S2S-Token': 'enabled' })
    expect(long).toMatch(/^ghs_1_[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(long.length).toBeGreaterThan(500)
    for (const token of [short, long])
      expect((await ask('GET', '/installation/repositories', { token })).status).toBe(200)
  })

  test('last for an hour, and end when they are given back', async () => {
    const { json } = await asApp('POST', `/app/installations/${atAda}/access_tokens`)
    const { token, expires_at: end } = Token.parse(json)
    expect(new Date(end).getTime() - Date.now()).toBeGreaterThan(3_590_000 - 5_000)
    expect(new Date(end).getTime() - Date.now()).toBeLessThanOrEqual(3_600_000)
    expect((await ask('DELETE', '/installation/token', { token })).status).toBe(204)
    expect((await ask('GET', '/installation/repositories', { token })).status).toBe(401)
  })

  test('are made for less than was granted, never for more', async () => {
    const path = `/app/installations/${atAda}/access_tokens`
    expect(
      await asApp('POST', path, { body: { permissions: { organization_secrets: 'read' } } }),
    ).toMatchObject({
      status: 422,
      json: { message: 'The permissions requested are not granted to this installation.' },
    })
    expect(await asApp('POST', path, { body: { permissions: { actions: 'write' } } })).toMatchObject({
      status: 422,
    })
    const elsewhere = await repositoryId(await mint({}, {}, 2001), 'acme/handbook')
    for (const body of [{ repositories: ['nothing'] }, { repository_ids: [elsewhere] }]) {
      expect(await asApp('POST', path, { body })).toMatchObject({
        status: 422,
        json: { message: expect.stringContaining('does not exist or is not accessible') },
      })
    }
  })

  test('a repository that they do not cover is not there; a right that they lack is named', async () => {
    const id = await repositoryId(await mint(), 'ada/engine')
    const token = await mint({ repository_ids: [id], permissions: { contents: 'read' } })
    expect(await ask('GET', '/repos/ada/notes', { token })).toMatchObject({ status: 404 })
    expect((await ask('GET', '/repos/ada/engine/branches', { token })).status).toBe(200)
    const body = { title: 'x', head: 'feature', base: 'main' }
    const refused = await ask('POST', '/repos/ada/engine/pulls', { token, body })
    expect(refused).toMatchObject({
      status: 403,
      json: { message: 'Resource not accessible by integration' },
    })
    expect(refused.headers.get('x-accepted-github-permissions')).toBe('pull_requests=write')
    // What is public is read without any right, and not written.
    expect((await ask('GET', '/repos/ada/sample/pulls', { token })).status).toBe(200)
    expect(await ask('POST', '/repos/ada/sample/pulls', { token, body })).toMatchObject({ status: 403 })
  })

  test('a user token reaches what both the person and an installation reach', async () => {
    const { json } = await ask('GET', '/user/repos?per_page=100', { token: ada })
    expect(JSON.stringify(json)).toContain('ada/notes')
    await asApp('PUT', `/app/installations/${atAda}/suspended`)
    try {
      expect(await ask('GET', '/repos/ada/notes', { token: ada })).toMatchObject({ status: 404 })
      expect(await ask('GET', '/repos/ada/engine', { token: ada })).toMatchObject({
        status: 200,
        json: { permissions: { push: false } },
      })
      const body = { title: 'x', head: 'feature', base: 'main' }
      expect(await ask('POST', '/repos/ada/engine/pulls', { token: ada, body })).toMatchObject({
        status: 403,
        json: { message: 'Resource not accessible by integration' },
      })
      expect(await ask('GET', '/user/repos', { token: ada })).toMatchObject({ status: 200 })
      expect((await ask('GET', '/repos/acme/handbook', { token: ada })).status).toBe(200)
    } finally {
      await asApp('DELETE', `/app/installations/${atAda}/suspended`)
    }
    expect((await ask('GET', '/repos/ada/notes', { token: ada })).status).toBe(200)
  })

  test('a suspended installation makes none, and those that it has do nothing', async () => {
    const token = await mint()
    const path = `/app/installations/${atAda}`
    expect((await asApp('PUT', `${path}/suspended`)).status).toBe(204)
    const suspended = { status: 403, json: { message: 'This installation has been suspended' } }
    expect(await asApp('POST', `${path}/access_tokens`)).toMatchObject(suspended)
    expect(await ask('GET', '/installation/repositories', { token })).toMatchObject(suspended)
    const told = await asApp('GET', path)
    expect(told).toMatchObject({ json: { suspended_at: expect.any(String) } })
    expect((await asApp('DELETE', `${path}/suspended`)).status).toBe(204)
    expect((await ask('GET', '/installation/repositories', { token })).status).toBe(200)
  })

  test('an installation that is gone takes its tokens with it', async () => {
    const id = 1002
    const token = await mint({}, {}, id)
    expect((await asApp('DELETE', `/app/installations/${id}`)).status).toBe(204)
    expect((await ask('GET', '/installation/repositories', { token })).status).toBe(401)
    expect((await asApp('GET', `/app/installations/${id}`)).status).toBe(404)
    expect((await asApp('POST', `/app/installations/${id}/access_tokens`)).status).toBe(404)
    expect((await ask('GET', '/user/installations', { token: grace })).json).toMatchObject({ total_count: 0 })
  })
})

test('a hook on this machine is refused, and one that came by this call waits for a person', async () => {
  const other = await startLocal(join(folder.path, 'hookless'))
  try {
    const patch = async (url: string) =>
      askRest(other.api, ['PATCH', '/app/hook/config'], { token: await appToken(other), body: { url } })
    expect(await patch('http://localhost:8080/webhooks/github')).toMatchObject({ status: 422 })
    expect(await patch('https://flightdeck.example/webhooks/github')).toMatchObject({ status: 200 })
    const token = (await signIn(other.codeHost, 'ada')).accessToken
    await other.codeHost.createRepository(token, { name: 'engine', description: '', isPrivate: false })
    await other.webhooks.settled()
    expect(other.webhooks.list()).toEqual([])
  } finally {
    await other.stop()
  }
})
