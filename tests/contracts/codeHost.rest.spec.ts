/** The local code host's REST API: GitHub's shapes, statuses and pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  clientId,
  clientSecret,
  commit,
  gitDone,
  hostWithEngine,
  type HostWithEngine,
  type LocalCodeHost,
} from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas()
const Opened = z.object({ number: z.number() })
let host: HostWithEngine
let local: LocalCodeHost
let ada: string
let grace: string
let tree: string

beforeAll(async () => {
  host = await hostWithEngine({
    main: { 'README.md': 'engine\n', 'src/a.ts': 'export const a = 1\n' },
    feature: { 'src/b.ts': 'export const b = 2\n' },
    other: { 'src/c.ts': 'export const c = 2\n' },
  })
  ;({ local, ada, grace, tree } = host)
})

afterAll(() => host.close())

interface Asked {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

async function ask(method: string, path: string, { token, body, headers }: Asked = {}) {
  const response = await fetch(`${local.api}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const json: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, json, link: response.headers.get('link') }
}

const pull = { title: 'Add b', head: 'ada:feature', base: 'main', body: 'b is needed' }

describe("answers are as GitHub's own description says", () => {
  test.each<[operation: string, status: number, path: string, body?: unknown]>([
    ['GET /user', 200, '/user'],
    ['GET /user/repos', 200, '/user/repos?type=all&sort=updated&per_page=100'],
    ['GET /user/orgs', 200, '/user/orgs'],
    ['GET /user/memberships/orgs/{org}', 200, '/user/memberships/orgs/acme'],
    [
      'GET /orgs/{org}/teams/{team_slug}/memberships/{username}',
      200,
      '/orgs/acme/teams/core/memberships/ada',
    ],
    ['GET /user/installations', 200, '/user/installations'],
    ['POST /user/repos', 201, '/user/repos', { name: 'made', description: 'x', private: true }],
    ['POST /orgs/{org}/repos', 201, '/orgs/acme/repos', { name: 'made' }],
    ['GET /repos/{owner}/{repo}', 200, '/repos/ada/engine'],
    ['GET /repos/{owner}/{repo}/branches', 200, '/repos/ada/engine/branches'],
    ['GET /repos/{owner}/{repo}/branches/{branch}', 200, '/repos/ada/engine/branches/feature'],
    ['POST /repos/{owner}/{repo}/pulls', 201, '/repos/ada/engine/pulls', pull],
    ['GET /repos/{owner}/{repo}/pulls', 200, '/repos/ada/engine/pulls?state=all'],
    ['GET /repos/{owner}/{repo}/pulls/{pull_number}', 200, '/repos/ada/engine/pulls/1'],
    ['PATCH /repos/{owner}/{repo}/pulls/{pull_number}', 200, '/repos/ada/engine/pulls/1', { title: 'b' }],
    ['GET /repos/{owner}/{repo}/compare/{basehead}', 200, '/repos/ada/engine/compare/main...feature'],
    ['PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', 200, '/repos/ada/engine/pulls/1/merge', {}],
    ['GET /repos/{owner}/{repo}/pulls/{pull_number}', 200, '/repos/ada/engine/pulls/1'],
    ['GET /repos/{owner}/{repo}/pulls', 200, '/repos/ada/engine/pulls?state=closed'],
  ])('%s %i', async (operation, status, path, body) => {
    const method = operation.split(' ')[0] ?? ''
    const answer = await ask(method, path, { token: ada, ...(body === undefined ? {} : { body }) })
    expect(answer).toMatchObject({ status })
    const validate = schemaOf(operation, status)
    validate(answer.json)
    expect(validate.errors ?? []).toEqual([])
    const isEmpty = Array.isArray(answer.json) && answer.json.length === 0
    expect(isEmpty).toBe(false)
  })
})

describe('who may do what', () => {
  test.each([
    ['GET', '/user'],
    ['GET', '/user/repos'],
    ['POST', '/user/repos'],
    ['POST', '/repos/ada/engine/pulls'],
  ])('%s %s asks for a token', async (method, path) => {
    expect(await ask(method, path)).toMatchObject({
      status: 401,
      json: { message: 'Requires authentication' },
    })
    expect(await ask(method, path, { token: 'ghu_no' })).toMatchObject({
      status: 401,
      json: { message: 'Bad credentials' },
    })
  })

  test('what is public is told without a token, what is private is not there', async () => {
    expect(await ask('GET', '/repos/ada/engine')).toMatchObject({ status: 200 })
    for (const token of [undefined, grace]) {
      expect(await ask('GET', '/repos/ada/notes', token === undefined ? {} : { token })).toMatchObject({
        status: 404,
        json: { message: 'Not Found', status: '404' },
      })
    }
  })

  test('repositories of the organisation are made by its owner', async () => {
    expect(await ask('POST', '/orgs/acme/repos', { token: grace, body: { name: 'hers' } })).toMatchObject({
      status: 404,
    })
    expect(await ask('POST', '/orgs/acme/repos', { token: ada, body: { name: 'ours' } })).toMatchObject({
      status: 201,
      json: { full_name: 'acme/ours', owner: { type: 'Organization' } },
    })
  })

  test("another person changes and merges nothing, and may not tell a token's owner from none", async () => {
    const body = { title: 'x', head: 'other', base: 'main' }
    const opened = await ask('POST', '/repos/ada/engine/pulls', { token: ada, body })
    expect(opened.status).toBe(201)
    const at = '/repos/ada/engine/pulls/2'
    expect(await ask('PATCH', at, { token: grace, body: { title: 'y' } })).toMatchObject({ status: 403 })
    expect(await ask('PUT', `${at}/merge`, { token: grace, body: {} })).toMatchObject({ status: 403 })
    expect(await ask('GET', at)).toMatchObject({ json: { title: 'x', state: 'open' } })
  })

  test('grants are ended by the app only', async () => {
    const path = `/applications/${clientId}/grant`
    const body = { access_token: ada }
    const basic = (secret: string) => ({
      Authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
    })
    expect(await ask('DELETE', path, { body })).toMatchObject({ status: 404 })
    expect(await ask('DELETE', path, { body, headers: basic('wrong') })).toMatchObject({ status: 404 })
    expect(await ask('DELETE', path, { body: {}, headers: basic(clientSecret) })).toMatchObject({
      status: 422,
    })
    expect(await ask('GET', '/user', { token: ada })).toMatchObject({ status: 200 })
  })
})

describe('lists', () => {
  test('are cut into pages, with links to the others', async () => {
    const first = await ask('GET', '/repos/ada/engine/branches?per_page=2')
    expect(first.json).toMatchObject([{ name: 'feature' }, { name: 'main' }])
    expect(first.link).toContain(`<${local.api}/repos/ada/engine/branches?per_page=2&page=2>; rel="next"`)
    const second = await ask('GET', '/repos/ada/engine/branches?per_page=2&page=2')
    expect(second.json).toMatchObject([{ name: 'other' }])
    expect(second.link).toContain('rel="prev"')
    expect(second.link).not.toContain('rel="next"')
    expect((await ask('GET', '/repos/ada/engine/branches?page=9')).json).toEqual([])
  })

  test('a page that is no number is the first, and a hundred is the most', async () => {
    expect((await ask('GET', '/repos/ada/engine/branches?page=-1&per_page=0')).json).toHaveLength(3)
    expect((await ask('GET', '/repos/ada/engine/branches?per_page=1e9&page=x')).json).toHaveLength(3)
  })

  test('repositories are told by type', async () => {
    const names = async (query: string) => {
      const { json } = await ask('GET', `/user/repos?${query}`, { token: ada })
      return Array.isArray(json) ? json.map((one: { full_name: string }) => one.full_name) : []
    }
    expect(await names('type=private')).toEqual(['ada/made', 'ada/notes'])
    expect(await names('type=member')).toContain('acme/handbook')
    expect(await names('type=owner')).not.toContain('acme/handbook')
    expect(await names('type=all&sort=created&direction=asc')).toHaveLength(7)
  })
})

describe('input that is wrong', () => {
  test.each<[string, unknown, number, unknown]>([
    ['broken JSON', '{"name":', 400, { message: 'Problems parsing JSON' }],
    ['a list', [], 400, { message: 'Body should be a JSON object' }],
    [
      'nothing in it',
      {},
      422,
      { errors: [{ resource: 'Repository', field: 'name', code: 'missing_field' }] },
    ],
    ['a number for a name', { name: 7 }, 422, { errors: [{ field: 'name', code: 'invalid' }] }],
    ['a folder for a name', { name: '..' }, 422, { errors: [{ field: 'name' }] }],
    ['an option for a name', { name: '-rf' }, 422, { errors: [{ field: 'name' }] }],
    ['too long a name', { name: 'x'.repeat(101) }, 422, { errors: [{ field: 'name' }] }],
    [
      'a taken name',
      { name: 'engine' },
      422,
      { errors: [{ message: 'name already exists on this account' }] },
    ],
    ['more than a megabyte', { name: 'big', description: 'x'.repeat(1_100_000) }, 413, {}],
  ])('a new repository with %s is refused', async (_, body, status, json) => {
    expect(await ask('POST', '/user/repos', { token: ada, body })).toMatchObject({ status, json })
  })

  test('what may not be in a name becomes a dash', async () => {
    const answer = await ask('POST', '/user/repos', { token: ada, body: { name: 'My new / repo <x>' } })
    expect(answer).toMatchObject({ status: 201, json: { name: 'My-new-repo-x-' } })
  })

  test.each([
    '/nothing',
    '/repos/ada',
    '/repos/ada/engine/pulls/0',
    '/repos/ada/engine/pulls/x',
    '/repos/%00/x',
    '/repos/..%2f/x',
  ])('%s is not there', async (path) => {
    expect(await ask('GET', path, { token: ada })).toMatchObject({ status: 404 })
  })
})

describe('merging', () => {
  const open = async (head: string) => {
    const body = { title: head, head, base: 'main' }
    const { json } = await ask('POST', '/repos/ada/engine/pulls', { token: ada, body })
    return `/repos/ada/engine/pulls/${Opened.parse(json).number}`
  }
  const push = async (...branches: string[]) => {
    const access = await local.codeHost.gitAccess(ada, { owner: 'ada', name: 'engine' })
    await gitDone(tree, ['push', '-q', '--force', 'origin', ...branches], access)
  }

  test('a conflict is told with the file, and nothing changes', async () => {
    await commit(tree, 'main', { 'same.txt': 'ours\n' })
    await gitDone(tree, ['checkout', '-q', '-b', 'conflict', 'main~1'])
    await commit(tree, 'conflict', { 'same.txt': 'theirs\n' })
    await gitDone(tree, ['fetch', '-q', 'origin', 'main'])
    await gitDone(tree, ['checkout', '-q', 'main'])
    await gitDone(tree, ['rebase', '-q', 'FETCH_HEAD'])
    await push('main', 'conflict')
    const at = await open('conflict')
    expect((await ask('GET', at)).json).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
    const merged = await ask('PUT', `${at}/merge`, { token: ada, body: {} })
    expect(merged).toMatchObject({ status: 405, json: { message: expect.stringContaining('same.txt') } })
    expect((await ask('GET', at)).json).toMatchObject({ state: 'open', merged: false })
  })

  test('by squash there is one commit, and a head that moved meanwhile is not merged', async () => {
    await commit(tree, 'squash', { 's1.txt': '1\n' })
    await commit(tree, 'squash', { 's2.txt': '2\n' })
    await push('squash')
    const at = await open('squash')
    const stale = await ask('PUT', `${at}/merge`, { token: ada, body: { sha: '0'.repeat(40) } })
    expect(stale).toMatchObject({ status: 409 })
    const merged = await ask('PUT', `${at}/merge`, { token: ada, body: { merge_method: 'squash' } })
    expect(merged).toMatchObject({ status: 200, json: { merged: true } })
    await gitDone(tree, ['fetch', '-q', 'origin', 'main'])
    expect(await gitDone(tree, ['log', '-1', '--format=%an %s %P', 'FETCH_HEAD'])).toMatch(
      /^Ada Lovelace squash \(#\d+\) [0-9a-f]{40}$/,
    )
    const again = await ask('PUT', `${at}/merge`, { token: ada, body: {} })
    expect(again).toMatchObject({ status: 405 })
  })

  test('a push moves the head; a forced one too; a deleted branch closes', async () => {
    await commit(tree, 'moving', { 'm.txt': '1\n' })
    await push('moving')
    const at = await open('moving')
    const moved = await commit(tree, 'moving', { 'm.txt': '2\n' })
    await push('moving')
    expect((await ask('GET', at)).json).toMatchObject({ head: { sha: moved }, commits: expect.any(Number) })
    await gitDone(tree, ['reset', '-q', '--hard', 'HEAD~2'])
    const forced = await commit(tree, 'moving', { 'n.txt': '3\n' })
    await push('moving')
    expect((await ask('GET', at)).json).toMatchObject({ head: { sha: forced } })
    await push(':moving')
    expect((await ask('GET', at)).json).toMatchObject({
      state: 'closed',
      merged: false,
      head: { sha: forced },
    })
    await gitDone(tree, ['fetch', '-q', 'origin', `refs/pull/${at.split('/').pop()}/head`])
    expect(await gitDone(tree, ['rev-parse', 'FETCH_HEAD'])).toBe(forced)
  })

  test('a closed one can be opened again', async () => {
    await commit(tree, 'again', { 'again.txt': '1\n' })
    await push('again')
    const at = await open('again')
    const set = (state: string) => ask('PATCH', at, { token: ada, body: { state } })
    expect(await set('closed')).toMatchObject({ json: { state: 'closed', closed_at: expect.any(String) } })
    expect(await set('open')).toMatchObject({ json: { state: 'open', closed_at: null } })
    expect(await set('half')).toMatchObject({ status: 422 })
  })
})
