/** Issues, labels and roles on the local code host, according to GitHub's own description. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { askRest } from './codeHost.apps.fixture.ts'
import { git, signIn, hostWithEngine, type HostWithEngine, type LocalCodeHost } from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas('github-openapi-reviews.json')
let host: HostWithEngine
let local: LocalCodeHost
let ada: string
let grace: string
let mallory: string
let tree: string
const at = { owner: 'ada', name: 'engine' }
const repo = '/repos/ada/engine'

beforeAll(async () => {
  host = await hostWithEngine({ main: { 'README.md': 'engine\n' }, feature: { 'b.ts': '2\n' } })
  ;({ local, ada, grace, tree } = host)
  mallory = (await signIn(local.codeHost, 'mallory')).accessToken
})
afterAll(() => host.close())

const ask = (method: string, path: string, asked: { token?: string; body?: unknown } = {}) =>
  askRest(local.api, [method, path], asked)
const Numbered = z.object({ number: z.number() })

describe("answers are as GitHub's own description says", () => {
  test.each<[operation: string, status: number, path: string, body?: unknown]>([
    ['POST /repos/{owner}/{repo}/labels', 201, '/labels', { name: 'flightdeck', color: 'FF0000' }],
    [
      'POST /repos/{owner}/{repo}/issues',
      201,
      '/issues',
      { title: 'It is broken', body: 'Here.', labels: ['bug'] },
    ],
    ['GET /repos/{owner}/{repo}/issues', 200, '/issues?labels=bug'],
    ['GET /repos/{owner}/{repo}/issues/{issue_number}', 200, '/issues/1'],
    [
      'PATCH /repos/{owner}/{repo}/issues/{issue_number}',
      200,
      '/issues/1',
      { body: 'There.', state: 'closed' },
    ],
    [
      'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
      200,
      '/issues/1/labels',
      { labels: ['Flightdeck'] },
    ],
    ['GET /repos/{owner}/{repo}/issues/{issue_number}/labels', 200, '/issues/1/labels'],
    ['DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', 200, '/issues/1/labels/bug'],
    ['GET /repos/{owner}/{repo}/issues/{issue_number}/events', 200, '/issues/1/events'],
    ['GET /repos/{owner}/{repo}/labels', 200, '/labels'],
    [
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
      201,
      '/issues/1/comments',
      { body: 'And here.' },
    ],
    ['GET /repos/{owner}/{repo}/collaborators/{username}/permission', 200, '/collaborators/grace/permission'],
    ['GET /repos/{owner}/{repo}/collaborators', 200, '/collaborators'],
  ])('%s %i', async (operation, status, path, body) => {
    const method = operation.split(' ')[0] ?? ''
    const answer = await ask(method, `${repo}${path}`, {
      token: ada,
      ...(body === undefined ? {} : { body }),
    })
    expect(answer.status).toBe(status)
    const validate = schemaOf(operation, status)
    validate(answer.json)
    expect(validate.errors ?? []).toEqual([])
    expect(Array.isArray(answer.json) && answer.json.length === 0).toBe(false)
  })

  test('the check finds an answer that is not so', async () => {
    const { json } = await ask('GET', `${repo}/issues/1`)
    const validate = schemaOf('GET /repos/{owner}/{repo}/issues/{issue_number}', 200)
    expect(validate(json)).toBe(true)
    expect(validate({ ...z.looseObject({}).parse(json), number: 'one' })).toBe(false)
  })
})

describe('issues', () => {
  test('have numbers in common with pull requests, and both are in the list', async () => {
    const pull = await local.codeHost.openPullRequest(ada, at, {
      head: 'feature',
      base: 'main',
      title: 'Add b',
      body: 'Closes #1 and fixes #3',
      draft: false,
    })
    expect(pull.number).toBe(2)
    const opened = await ask('POST', `${repo}/issues`, {
      token: mallory,
      body: { title: 'Hello', labels: ['flightdeck'] },
    })
    // Labels of who may not triage are left out, as on GitHub.
    expect(opened.json).toMatchObject({ number: 3, labels: [], author_association: 'NONE' })
    const { json } = await ask('GET', `${repo}/issues?state=all`)
    expect(
      z
        .array(Numbered)
        .parse(json)
        .map(({ number }) => number),
    ).toEqual([3, 2, 1])
    expect((await ask('GET', `${repo}/issues/2`)).json).toMatchObject({
      number: 2,
      pull_request: { merged_at: null },
    })
    expect((await ask('GET', `${repo}/issues?labels=flightdeck&state=closed`)).json).toMatchObject([
      { number: 1 },
    ])
  })

  test('labels are on pull requests too, which are in the list of a label as well', async () => {
    const labels = ['flightdeck']
    expect(await ask('POST', `${repo}/issues/2/labels`, { token: mallory, body: { labels } })).toMatchObject({
      status: 403,
    })
    expect(
      (await ask('POST', `${repo}/issues/2/labels`, { token: ada, body: { labels } })).json,
    ).toMatchObject([{ name: 'flightdeck' }])
    const { json } = await ask('GET', `${repo}/issues?labels=flightdeck&state=all`)
    expect(
      z
        .array(Numbered)
        .parse(json)
        .map(({ number }) => number),
    ).toEqual([2, 1])
    expect((await ask('GET', `${repo}/pulls/2`)).json).toMatchObject({ labels: [{ name: 'flightdeck' }] })
    expect((await ask('DELETE', `${repo}/issues/2/labels/flightdeck`, { token: ada })).json).toEqual([])
    expect((await ask('GET', `${repo}/issues/2/labels`)).json).toEqual([])
  })

  test('who set a label is told', async () => {
    const { json } = await ask('GET', `${repo}/issues/1/events`)
    expect(json).toMatchObject([
      { event: 'labeled', label: { name: 'bug' }, actor: { login: 'ada' } },
      { event: 'closed', actor: { login: 'ada' } },
      { event: 'labeled', label: { name: 'flightdeck' } },
      { event: 'unlabeled', label: { name: 'bug' } },
    ])
  })

  test('labels that are set at the same time are all there', async () => {
    const names = ['one', 'two', 'three', 'four']
    const { json } = await ask('POST', `${repo}/issues`, { token: ada, body: { title: 'Many labels' } })
    const path = `${repo}/issues/${Numbered.parse(json).number}/labels`
    await Promise.all(names.map((name) => ask('POST', path, { token: ada, body: { labels: [name] } })))
    expect((await ask('GET', path)).json).toHaveLength(names.length)
  })

  test('who only reads labels none, and changes only their own', async () => {
    const labels = ['flightdeck']
    expect(await ask('POST', `${repo}/issues/3/labels`, { token: mallory, body: { labels } })).toMatchObject({
      status: 403,
    })
    expect(await ask('PATCH', `${repo}/issues/1`, { token: mallory, body: { title: 'x' } })).toMatchObject({
      status: 403,
    })
    expect(
      await ask('PATCH', `${repo}/issues/3`, { token: mallory, body: { title: 'Mine', labels } }),
    ).toMatchObject({
      status: 200,
      json: { title: 'Mine', labels: [] },
    })
    expect(await ask('DELETE', `${repo}/issues/3/labels/none`, { token: ada })).toMatchObject({ status: 404 })
  })

  test('a merge closes what the pull request says it closes', async () => {
    expect((await ask('PUT', `${repo}/pulls/2/merge`, { token: ada, body: {} })).status).toBe(200)
    expect((await ask('GET', `${repo}/issues/3`)).json).toMatchObject({
      state: 'closed',
      state_reason: 'completed',
      closed_by: { login: 'ada' },
    })
  })
})

test('when a text was last changed is told by GraphQL alone', async () => {
  const { node_id: id } = z
    .looseObject({ node_id: z.string() })
    .parse((await ask('GET', `${repo}/issues/3`)).json)
  const comments = z.array(z.looseObject({ node_id: z.string() }))
  const [comment] = comments.parse((await ask('GET', `${repo}/issues/1/comments`)).json)
  const query = `{ nodes(ids: ["${id}", "${comment?.node_id}"]) { ... on Issue { title lastEditedAt } ... on IssueComment { body lastEditedAt } } }`
  const response = await fetch(`${local.url}/api/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${grace}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  expect(await response.json()).toEqual({
    data: {
      nodes: [
        { title: 'Mine', lastEditedAt: expect.any(String) },
        { body: 'And here.', lastEditedAt: null },
      ],
    },
  })
})

describe('roles', () => {
  const role = async (login: string) =>
    (await ask('GET', `${repo}/collaborators/${login}/permission`, { token: ada })).json
  const give = (permission: string) =>
    ask('PUT', `${repo}/collaborators/grace`, { token: ada, body: { permission } })

  test('are told in four words, and by name', async () => {
    expect(await role('ada')).toMatchObject({ permission: 'admin', role_name: 'admin' })
    expect(await role('mallory')).toMatchObject({ permission: 'read', role_name: 'read' })
    expect((await ask('GET', `${repo}/collaborators/nobody/permission`, { token: ada })).status).toBe(404)
    await give('triage')
    expect(await role('grace')).toMatchObject({ permission: 'read', role_name: 'triage' })
    await give('maintain')
    expect(await role('grace')).toMatchObject({ permission: 'write', role_name: 'maintain' })
  })

  test('say who may push, label and read', async () => {
    const access = await local.codeHost.gitAccess(grace, at)
    const push = async (name: string) =>
      (await git(tree, ['push', '-q', 'origin', `feature:refs/heads/${name}`], access)).code
    const label = () => ask('POST', `${repo}/issues/1/labels`, { token: grace, body: { labels: ['bug'] } })
    await give('pull')
    expect(await push('one')).not.toBe(0)
    expect((await label()).status).toBe(403)
    await give('triage')
    expect(await push('two')).not.toBe(0)
    expect((await label()).status).toBe(200)
    await give('push')
    expect(await push('three')).toBe(0)
    await ask('DELETE', `${repo}/collaborators/grace`, { token: ada })
    expect(await push('four')).not.toBe(0)

    await local.codeHost.createRepository(ada, { name: 'hidden', description: '', isPrivate: true })
    const hidden = '/repos/ada/hidden'
    expect((await ask('GET', hidden, { token: grace })).status).toBe(404)
    await ask('PUT', `${hidden}/collaborators/grace`, { token: ada, body: { permission: 'pull' } })
    expect(await ask('GET', hidden, { token: grace })).toMatchObject({
      status: 200,
      json: { permissions: { push: false } },
    })
    expect(
      (await ask('GET', `${hidden}/collaborators/mallory/permission`, { token: ada })).json,
    ).toMatchObject({
      permission: 'none',
    })
  })

  test('are given by the owner only', async () => {
    const body = { permission: 'admin' }
    expect((await ask('PUT', `${repo}/collaborators/mallory`, { token: mallory, body })).status).toBe(403)
    expect((await ask('PUT', `${repo}/collaborators/ada`, { token: ada, body })).status).toBe(422)
  })
})
