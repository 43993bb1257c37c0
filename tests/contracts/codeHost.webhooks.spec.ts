/** The webhooks of the local code host: in the form of the published examples, signed, sent once each, and controlled by the test. */
import { Webhooks } from '@octokit/webhooks'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import {
  commit,
  gitDone,
  signIn,
  hostWithEngine,
  type HostWithEngine,
  type LocalCodeHost,
} from './codeHost.fixture.ts'
import { appToken } from './codeHost.apps.fixture.ts'

interface Received {
  readonly guid: string
  readonly event: string
  readonly signature: string
  readonly body: string
  readonly payload: Record<string, unknown>
}

const secret = 'the secret of the hook'
let host: HostWithEngine
let local: LocalCodeHost
let ada = ''
let tree = ''
let hook: Server
let received: Received[] = []
let status = 202

beforeAll(async () => {
  hook = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString('utf8')
    const header = (name: string) => String(request.headers[name])
    received.push({
      guid: header('x-github-delivery'),
      event: header('x-github-event'),
      signature: header('x-hub-signature-256'),
      body,
      payload: JSON.parse(body),
    })
    response.writeHead(status).end()
  })
  await new Promise<void>((listening) => hook.listen(0, '127.0.0.1', listening))
  const at = hook.address()
  const url = `http://127.0.0.1:${typeof at === 'object' && at ? at.port : 0}/hook`
  host = await hostWithEngine(
    { main: { 'README.md': 'engine\n' }, feature: { 'src/b.ts': 'export const b = 2\n' } },
    { hook: { url, secret } },
  )
  ;({ local, ada, tree } = host)
})
afterAll(async () => {
  await host.close()
  await new Promise((closed) => hook.close(closed))
})

const at = { owner: 'ada', name: 'engine' }
const request = { head: 'feature', base: 'main', title: 'Add b', body: 'It is b.', draft: false }

async function ask(method: string, path: string, body?: unknown, token = ada): Promise<unknown> {
  const response = await fetch(`${local.api}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(response.status).toBeLessThan(300)
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

async function graphql(query: string): Promise<unknown> {
  const response = await fetch(`${local.url}/api/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })
  return response.json()
}

/** Lines such as `pull_request.number: number`, three levels deep; what may be null has no type. */
function shapeOf(value: unknown, path = '', depth = 0): readonly string[] {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || depth > 3)
    return [value === null ? path : `${path}: ${Array.isArray(value) ? 'list' : typeof value}`]
  return [path, ...Object.entries(value).flatMap(([key, one]) => shapeOf(one, `${path}.${key}`, depth + 1))]
}

const file = fileURLToPath(import.meta.resolve('@octokit/webhooks-examples/api.github.com/index.json'))
const examples: { name: string; examples: Record<string, unknown>[] }[] = JSON.parse(
  readFileSync(file, 'utf8'),
)

/** The names of members that every example of the kind has. */
function wanted(event: string, action: unknown): readonly string[] {
  const all = examples.find(({ name }) => name === event)?.examples ?? []
  const alike = all.filter((one) => action === undefined || one['action'] === action)
  const [first = [], ...others] = alike.map((one) => new Set(namesOf(shapeOf(one))))
  return [...first].filter((name) => others.every((other) => other.has(name)))
}
const namesOf = (shape: readonly string[]) => shape.map((line) => line.replace(/: .*$/, ''))

/** What of GitHub's payloads nothing of ours needs: settings of repositories, and links of people. */
const leftOut =
  /\.(custom_properties|allow_\w+|delete_branch_on_merge|use_squash_pr_title_as_default|squash_merge_commit_\w+|merge_commit_(title|message)|has_discussions|organization|master_branch|stargazers)$|\.owner\.(name|email)$|\.license|\.(milestone|assignee|auto_merge|requested_reviewers|labels)\b|head_commit\.|^\.organization\.|\.permissions\.|\.commits\b/

/** What arrived has all members that every example of its kind has. */
function expectShapes() {
  for (const { event, payload } of received) {
    const names = new Set(namesOf(shapeOf(payload)))
    const missing = wanted(event, payload['action']).filter((name) => !names.has(name) && !leftOut.test(name))
    expect(missing, `${event} ${String(payload['action'])}`).toEqual([])
  }
}

test('each tells what happened in the shape of its example, signed with the secret', async () => {
  received = []
  const pulls = '/repos/ada/engine/pulls'
  await local.codeHost.openPullRequest(ada, at, request)
  const [reading] = await local.codeHost.pullRequestStates(ada, [{ repository: at, number: 1 }])
  const id = reading?.kind === 'read' ? reading.pullRequest.nodeId : ''
  for (const mutation of ['convertPullRequestToDraft', 'markPullRequestReadyForReview']) {
    await graphql(`mutation { ${mutation}(input: {pullRequestId: "${id}"}) { pullRequest { isDraft } } }`)
  }
  await ask('PATCH', `${pulls}/1`, { title: 'Add b and c' })
  await ask('POST', '/repos/ada/engine/issues/1/labels', { labels: ['flightdeck'] })
  await ask('DELETE', '/repos/ada/engine/issues/1/labels/flightdeck')
  await ask('PATCH', `${pulls}/1`, { state: 'closed' })
  await ask('PATCH', `${pulls}/1`, { state: 'open' })
  await commit(tree, 'feature', { 'src/c.ts': 'export const c = 3\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'feature'], await local.codeHost.gitAccess(ada, at))
  await ask('PUT', `${pulls}/1/merge`, {})
  await local.webhooks.settled()
  const told = received.map(({ event, payload }) => `${event} ${String(payload['action'] ?? '')}`.trim())
  for (const one of [
    'opened',
    'converted_to_draft',
    'ready_for_review',
    'edited',
    'closed',
    'reopened',
    'synchronize',
    'labeled',
    'unlabeled',
  ])
    expect(told).toContain(`pull_request ${one}`)
  expect(told.filter((one) => one === 'pull_request closed')).toHaveLength(2)
  expect(told).toContain('push')
  const verifier = new Webhooks({ secret })
  for (const { body, signature } of received) {
    expect(await verifier.verify(body, signature)).toBe(true)
    expect(await new Webhooks({ secret: 'another' }).verify(body, signature)).toBe(false)
  }
  expectShapes()
  const Merged = z.object({
    pull_request: z.object({ merged: z.boolean(), merged_by: z.object({ login: z.string() }) }),
  })
  const last = received.findLast(({ payload }) => payload['action'] === 'closed')
  expect(Merged.parse(last?.payload)).toMatchObject({
    pull_request: { merged: true, merged_by: { login: 'ada' } },
  })
})

test('are held back, shuffled, repeated and lost as a test likes; what failed is listed and sent again', async () => {
  await commit(tree, 'other', { 'src/d.ts': 'export const d = 4\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'other'], await local.codeHost.gitAccess(ada, at))
  await local.webhooks.settled()
  received = []
  local.webhooks.hold()
  await local.codeHost.openPullRequest(ada, at, { ...request, head: 'other' })
  await ask('PATCH', '/repos/ada/engine/pulls/2', { title: 'Two' })
  await ask('PATCH', '/repos/ada/engine/pulls/2', { state: 'closed' })
  expect(received).toEqual([])
  await local.webhooks.release(([first, ...others]) => [
    ...others.toReversed(),
    ...(first ? [first, first] : []),
  ])
  expect(received.map(({ payload }) => payload['action'])).toHaveLength(4)
  expect(new Set(received.map(({ guid }) => guid)).size).toBe(3)

  status = 500
  await ask('PATCH', '/repos/ada/engine/pulls/2', { state: 'open' })
  await local.webhooks.settled()
  const Listed = z.array(
    z.object({ id: z.number(), guid: z.string(), status_code: z.number(), redelivery: z.boolean() }),
  )
  const listed = async (query: string) => {
    const authorization = `Bearer ${await appToken(local)}`
    const asked = await fetch(`${local.api}/app/hook/deliveries${query}`, { headers: { authorization } })
    return Listed.parse(await asked.json())
  }
  const [failed] = await listed('?status=failure&per_page=1')
  expect(failed).toMatchObject({ status_code: 500, redelivery: false })
  status = 202
  const before = received.length
  await fetch(`${local.api}/app/hook/deliveries/${failed?.id}/attempts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await appToken(local)}` },
  })
  await local.webhooks.settled()
  expect(received.slice(before).map(({ guid }) => guid)).toEqual([failed?.guid])
  expect((await listed('?per_page=1'))[0]).toMatchObject({
    guid: failed?.guid,
    redelivery: true,
    status_code: 202,
  })
  expect((await fetch(`${local.api}/app/hook/deliveries`)).status).toBe(401)
})

test('reviews, comments on lines, threads and comments below are told', async () => {
  const grace = (await signIn(local.codeHost, 'grace')).accessToken
  await commit(tree, 'third', { 'src/e.ts': 'export const e = 5\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'third'], await local.codeHost.gitAccess(ada, at))
  await local.codeHost.openPullRequest(ada, at, { ...request, head: 'third' })
  await local.webhooks.settled()
  received = []
  const pull = '/repos/ada/engine/pulls/3'
  const onLine = { path: 'src/e.ts', line: 1, body: 'Why five?' }
  const review = { event: 'REQUEST_CHANGES', body: 'No.', comments: [onLine] }
  const Made = z.object({ id: z.number() })
  const { id } = Made.parse(await ask('POST', `${pull}/reviews`, review, grace))
  const [comment] = z.array(Made).parse(await ask('GET', `${pull}/reviews/${id}/comments`))
  await ask('PUT', `${pull}/reviews/${id}`, { body: 'Not so.' }, grace)
  await ask('PUT', `${pull}/reviews/${id}/dismissals`, { message: 'Done.' })
  await ask('POST', `${pull}/comments/${comment?.id}/replies`, { body: 'Because.' })
  await ask('PATCH', `/repos/ada/engine/pulls/comments/${comment?.id}`, { body: 'Why?' }, grace)
  const asked =
    '{ repository(owner: "ada", name: "engine") { pullRequest(number: 3) { reviewThreads(first: 1) { nodes { id } } } } }'
  const [, thread = ''] = /"id":"([^"]+)"/.exec(JSON.stringify(await graphql(asked))) ?? []
  for (const name of ['resolveReviewThread', 'unresolveReviewThread'])
    await graphql(`mutation { ${name}(input: {threadId: "${thread}"}) { thread { isResolved } } }`)
  await ask('DELETE', `/repos/ada/engine/pulls/comments/${comment?.id}`, undefined, grace)
  const below = Made.parse(await ask('POST', '/repos/ada/engine/issues/3/comments', { body: 'Hm.' }, grace))
  await ask('PATCH', `/repos/ada/engine/issues/comments/${below.id}`, { body: 'Hm!' }, grace)
  await ask('DELETE', `/repos/ada/engine/issues/comments/${below.id}`, undefined, grace)
  await local.webhooks.settled()
  expect(received.map(({ event, payload }) => `${event} ${String(payload['action'])}`).sort()).toEqual(
    [
      'pull_request_review submitted',
      'pull_request_review_comment created',
      'pull_request_review edited',
      'pull_request_review dismissed',
      'pull_request_review submitted',
      'pull_request_review_comment created',
      'pull_request_review_comment edited',
      'pull_request_review_thread resolved',
      'pull_request_review_thread unresolved',
      'pull_request_review_comment deleted',
      'issue_comment created',
      'issue_comment edited',
      'issue_comment deleted',
    ].sort(),
  )
  expectShapes()
  const submitted = received.find(({ event }) => event === 'pull_request_review')
  expect(submitted?.payload).toMatchObject({
    review: { state: 'changes_requested' },
    sender: { login: 'grace' },
  })
  const resolved = received.find(({ event }) => event === 'pull_request_review_thread')
  expect(resolved?.payload).toMatchObject({ thread: { node_id: thread }, sender: { login: 'ada' } })
  const said = received.find(({ event }) => event === 'issue_comment')
  expect(said?.payload).toMatchObject({ issue: { number: 3, pull_request: {} }, comment: { body: 'Hm.' } })
})

test('checks, their suites and statuses are told', async () => {
  const head = await commit(tree, 'fourth', { 'src/f.ts': 'export const f = 6\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'fourth'], await local.codeHost.gitAccess(ada, at))
  await local.codeHost.openPullRequest(ada, at, { ...request, head: 'fourth' })
  await local.webhooks.settled()
  received = []
  await local.reportCheck('ada', 'engine', { name: 'slow', status: 'in_progress', headSha: head })
  await local.reportCheck('ada', 'engine', { name: 'test', conclusion: 'failure', headSha: head })
  await local.reportCheck('ada', 'engine', { name: 'slow', conclusion: 'success', headSha: head })
  await ask('POST', `/repos/ada/engine/statuses/${head}`, { state: 'error', context: 'ci/old' })
  await local.webhooks.settled()
  const told = received.map(({ event, payload }) => `${event} ${String(payload['action'] ?? '')}`.trim())
  expect(told.toSorted()).toEqual([
    'check_run completed',
    'check_run completed',
    'check_run created',
    'check_run created',
    'check_run created',
    'check_suite completed',
    'status',
  ])
  expectShapes()
  const suite = received.find(({ event }) => event === 'check_suite')
  expect(suite?.payload).toMatchObject({
    check_suite: { conclusion: 'failure', head_sha: head, pull_requests: [{ number: 4 }] },
  })
})

test('what becomes of issues is told, with the label and who set it', async () => {
  await local.webhooks.settled()
  received = []
  const Made = z.object({ number: z.number() })
  const { number } = Made.parse(
    await ask('POST', '/repos/ada/engine/issues', { title: 'It is broken', body: 'Here.' }),
  )
  const issue = `/repos/ada/engine/issues/${number}`
  await ask('POST', `${issue}/labels`, { labels: ['flightdeck'] })
  await ask('PATCH', issue, { body: 'There.' })
  await ask('DELETE', `${issue}/labels/flightdeck`)
  await ask('PATCH', issue, { state: 'closed' })
  await ask('PATCH', issue, { state: 'open' })
  await ask('POST', `${issue}/comments`, { body: 'Still.' })
  await local.webhooks.settled()
  expect(received.map(({ event, payload }) => `${event} ${String(payload['action'])}`).sort()).toEqual([
    'issue_comment created',
    'issues closed',
    'issues edited',
    'issues labeled',
    'issues opened',
    'issues reopened',
    'issues unlabeled',
  ])
  expectShapes()
  const labelled = received.find(({ payload }) => payload['action'] === 'labeled')
  expect(labelled?.payload).toMatchObject({
    label: { name: 'flightdeck' },
    issue: { number, body: 'Here.', labels: [{ name: 'flightdeck' }] },
    sender: { login: 'ada' },
  })
})

test('what becomes of a repository is told with what it was before', async () => {
  await local.codeHost.createRepository(ada, { name: 'moving', description: 'Once', isPrivate: false })
  await local.webhooks.settled()
  received = []
  const change = (body: object, name = 'moving') => ask('PATCH', `/repos/ada/${name}`, body)
  await change({ description: 'Now' })
  await change({ private: true })
  await change({ private: false })
  await change({ archived: true })
  await change({ archived: false })
  await change({ name: 'moved' })
  await ask('POST', '/repos/ada/moved/transfer', { new_owner: 'acme' })
  await ask('DELETE', '/repos/acme/moved')
  await local.webhooks.settled()
  const told = received.map(({ payload }) => [payload['action'], payload['changes']])
  expect(told.toSorted()).toEqual(
    [
      ['edited', { description: { from: 'Once' } }],
      ['privatized', undefined],
      ['publicized', undefined],
      ['archived', undefined],
      ['unarchived', undefined],
      ['renamed', { repository: { name: { from: 'moving' } } }],
      ['transferred', { owner: { from: { user: expect.objectContaining({ login: 'ada' }) } } }],
      ['deleted', undefined],
    ].toSorted(),
  )
  expectShapes()
})

test('a conditional request is answered by 304 to the token that has the tag, and to no other', async () => {
  const grace = (await signIn(local.codeHost, 'grace')).accessToken
  const get = (token: string, tag?: string) =>
    fetch(`${local.api}/repos/ada/engine/pulls/1`, {
      headers: { authorization: `Bearer ${token}`, ...(tag ? { 'if-none-match': tag } : {}) },
    })
  const tag = (await get(ada)).headers.get('etag') ?? ''
  expect(tag).toMatch(/^W\/"/)
  expect((await get(ada, tag)).status).toBe(304)
  expect((await get(grace, tag)).status).toBe(200)
})
