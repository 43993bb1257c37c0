/** Limits of the local code host: requests per hour, refusals that a test requests, and who may send such requests. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { secondaryLimit } from '../standins/github/limits.ts'
import { askRest } from './codeHost.apps.fixture.ts'
import { signIn, startLocal, temporaryFolder, type Folder, type LocalCodeHost } from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

let folder: Folder
let local: LocalCodeHost
let ada: string
let now = new Date('2026-02-01T12:00:00Z')

beforeAll(async () => {
  folder = await temporaryFolder()
  local = await startLocal(join(folder.path, 'data'), {
    rateLimits: { core: 3, graphql: 2 },
    clock: { now: () => now },
  })
  ada = (await signIn(local.codeHost, 'ada')).accessToken
})
afterAll(async () => {
  await local.stop()
  await folder.remove()
})

const ask = (path: string, token = ada, headers: Record<string, string> = {}) =>
  askRest(local.api, ['GET', path], { token, headers })
const figures = (headers: Headers) =>
  ['limit', 'remaining', 'used', 'resource'].map((name) => headers.get(`x-ratelimit-${name}`))

test('requests of one person count together, those of GraphQL and of others apart; after an hour they begin anew', async () => {
  const first = await ask('/user')
  expect(figures(first.headers)).toEqual(['3', '2', '1', 'core'])
  const tag = first.headers.get('etag') ?? ''
  // What has not changed is not counted.
  const same = await ask('/user', ada, { 'if-none-match': tag })
  expect(same.status).toBe(304)
  expect(figures(same.headers)).toEqual(['3', '2', '1', 'core'])
  await ask('/user/repos')
  await ask('/user/orgs')
  const refused = await ask('/user')
  expect(refused).toMatchObject({
    status: 403,
    json: { message: expect.stringContaining('API rate limit exceeded') },
  })
  expect(figures(refused.headers)).toEqual(['3', '0', '3', 'core'])
  expect(Number(refused.headers.get('x-ratelimit-reset'))).toBe(now.getTime() / 1000 + 3_600)
  const told = await ask('/rate_limit')
  expect(told.json).toMatchObject({ resources: { core: { remaining: 0 }, graphql: { remaining: 2 } } })
  const validate = githubSchemas('github-openapi-apps.json')('GET /rate_limit', 200)
  validate(told.json)
  expect(validate.errors ?? []).toEqual([])
  const grace = (await signIn(local.codeHost, 'grace')).accessToken
  expect((await ask('/user', grace)).status).toBe(200)
  now = new Date(now.getTime() + 3_600_001)
  expect(figures((await ask('/user')).headers)).toEqual(['3', '2', '1', 'core'])
})

test('the next requests are refused as a test says, and then no more', async () => {
  now = new Date(now.getTime() + 3_600_001)
  local.limits.disturb(secondaryLimit(60))
  const refused = await ask('/user')
  expect(refused).toMatchObject({
    status: 403,
    json: { message: expect.stringContaining('secondary rate limit') },
  })
  expect(refused.headers.get('retry-after')).toBe('60')
  local.limits.disturb({ status: 502, message: 'Server Error', times: 1, of: /^GET \/api\/v3\/user\/orgs$/ })
  expect((await ask('/user')).status).toBe(200)
  expect((await ask('/user/orgs')).status).toBe(502)
  expect((await ask('/user/orgs')).status).toBe(200)
})

test('without limits there are no headers and nothing to ask for, as on GitHub Enterprise Server', async () => {
  const other = await startLocal(join(folder.path, 'enterprise'), { rateLimits: null })
  try {
    const token = (await signIn(other.codeHost, 'ada')).accessToken
    const answer = await askRest(other.api, ['GET', '/user'], { token })
    expect(answer.headers.get('x-ratelimit-limit')).toBeNull()
    expect(await askRest(other.api, ['GET', '/rate_limit'], { token })).toMatchObject({
      status: 404,
      json: { message: 'Rate limiting is not enabled.' },
    })
  } finally {
    await other.stop()
  }
})
