/**
 * Reviews and comments on the local code host, according to GitHub's own description: who may write them, where they are placed, and how they change.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { appToken } from './codeHost.apps.fixture.ts'
import {
  commit,
  gitDone,
  hostWithEngine,
  type HostWithEngine,
  type LocalCodeHost,
} from './codeHost.fixture.ts'
import { githubSchemas } from './codeHost.schemas.ts'

const schemaOf = githubSchemas('github-openapi-reviews.json')
const Numbered = z.object({ id: z.number() })
const Comments = z.array(
  z.object({
    id: z.number(),
    line: z.number().nullable(),
    original_line: z.number(),
    diff_hunk: z.string(),
    commit_id: z.string(),
    original_commit_id: z.string(),
  }),
)
let host: HostWithEngine
let local: LocalCodeHost
let ada: string
let grace: string
let tree: string
const at = { owner: 'ada', name: 'engine' }
const pulls = '/repos/ada/engine/pulls'

beforeAll(async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`)
  const changed = lines.with(9, 'the tenth, changed').with(29, 'the thirtieth, changed')
  host = await hostWithEngine({
    main: { 'long.txt': `${lines.join('\n')}\n` },
    feature: { 'long.txt': `${changed.join('\n')}\n`, 'src/b.ts': 'one\ntwo\nthree\n' },
  })
  ;({ local, ada, grace, tree } = host)
  await local.codeHost.openPullRequest(ada, at, {
    head: 'feature',
    base: 'main',
    title: 'Change',
    body: 'It changes.',
    draft: false,
  })
})

afterAll(() => host.close())

async function push(...branches: string[]) {
  await gitDone(tree, ['push', '-q', 'origin', ...branches], await local.codeHost.gitAccess(ada, at))
}

async function ask(method: string, path: string, { token, body }: { token?: string; body?: unknown } = {}) {
  const response = await fetch(`${local.api}${path}`, {
    method,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json: unknown = text === '' ? undefined : JSON.parse(text)
  return { status: response.status, json }
}

/** A token of what ada installed, with these rights only. */
async function installationToken(permissions: object): Promise<string> {
  const { json } = await ask('POST', '/app/installations/1001/access_tokens', {
    token: await appToken(local),
    body: { permissions },
  })
  return z.looseObject({ token: z.string() }).parse(json).token
}

const submit = (token: string, body: object) => ask('POST', `${pulls}/1/reviews`, { token, body })

describe("answers are as GitHub's own description says", () => {
  const onLine = { path: 'src/b.ts', line: 2, body: 'Why two?' }
  const review = { event: 'REQUEST_CHANGES', body: 'Not yet.', comments: [onLine] }
  test.each<[operation: string, status: number, path: string, body?: unknown]>([
    ['POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', 200, `${pulls}/1/reviews`, review],
    ['GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', 200, `${pulls}/1/reviews`],
    ['GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}', 200, `${pulls}/1/reviews/1`],
    [
      'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments',
      200,
      `${pulls}/1/reviews/1/comments`,
    ],
    [
      'PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}',
      200,
      `${pulls}/1/reviews/1`,
      { body: 'Not so.' },
    ],
    ['GET /repos/{owner}/{repo}/pulls/{pull_number}/comments', 200, `${pulls}/1/comments`],
    [
      'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies',
      201,
      `${pulls}/1/comments/2/replies`,
      { body: 'Because.' },
    ],
    ['GET /repos/{owner}/{repo}/pulls/comments/{comment_id}', 200, `${pulls}/comments/2`],
    ['PATCH /repos/{owner}/{repo}/pulls/comments/{comment_id}', 200, `${pulls}/comments/2`, { body: 'Why?' }],
    ['GET /repos/{owner}/{repo}/pulls/comments', 200, `${pulls}/comments?since=2020-01-01T00:00:00Z`],
    [
      'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
      201,
      '/repos/ada/engine/issues/1/comments',
      { body: 'Look here.' },
    ],
    ['GET /repos/{owner}/{repo}/issues/{issue_number}/comments', 200, '/repos/ada/engine/issues/1/comments'],
    ['GET /repos/{owner}/{repo}/issues/comments/{comment_id}', 200, '/repos/ada/engine/issues/comments/6'],
    [
      'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}',
      200,
      '/repos/ada/engine/issues/comments/6',
      { body: 'See.' },
    ],
    [
      'GET /repos/{owner}/{repo}/issues/comments',
      200,
      '/repos/ada/engine/issues/comments?since=2020-01-01T00:00:00Z',
    ],
  ])('%s %i', async (operation, status, path, body) => {
    const method = operation.split(' ')[0] ?? ''
    const token = grace
    const answer = await ask(method, path, { token, ...(body === undefined ? {} : { body }) })
    expect(answer).toMatchObject({ status })
    const validate = schemaOf(operation, status)
    validate(answer.json)
    expect(validate.errors ?? []).toEqual([])
    expect(Array.isArray(answer.json) && answer.json.length === 0).toBe(false)
  })

  test('dismissing, and a comment by itself', async () => {
    const dismissed = await ask('PUT', `${pulls}/1/reviews/1/dismissals`, {
      token: ada,
      body: { message: 'Done.' },
    })
    expect(dismissed).toMatchObject({ status: 200, json: { state: 'DISMISSED' } })
    const pull = await ask('GET', `${pulls}/1`)
    const { head } = z.object({ head: z.object({ sha: z.string() }) }).parse(pull.json)
    const body = { ...onLine, commit_id: head.sha, side: 'RIGHT' }
    const made = await ask('POST', `${pulls}/1/comments`, { token: ada, body })
    expect(made.status).toBe(201)
    for (const [operation, { status, json }] of [
      ['PUT /repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals', dismissed],
      ['POST /repos/{owner}/{repo}/pulls/{pull_number}/comments', made],
    ] as const) {
      const validate = schemaOf(operation, status)
      validate(json)
      expect(validate.errors ?? []).toEqual([])
    }
  })

  test('the check finds an answer that is not so', async () => {
    const operation = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments'
    const { json } = await ask('GET', `${pulls}/1/comments`)
    const broken = z.array(z.record(z.string(), z.unknown())).parse(json)
    const validate = schemaOf(operation, 200)
    expect(validate(broken)).toBe(true)
    for (const name of ['diff_hunk', 'user', 'author_association'])
      expect(validate(broken.map((one) => ({ ...one, [name]: undefined })))).toBe(false)
  })
})

describe('who may', () => {
  test('nobody approves their own, and nobody says nothing', async () => {
    const own = await submit(ada, { event: 'APPROVE' })
    expect(own).toMatchObject({
      status: 422,
      json: { errors: [{ message: 'Can not approve your own pull request' }] },
    })
    expect(await submit(grace, { event: 'COMMENT' })).toMatchObject({ status: 422 })
    expect(await submit(grace, { event: 'REQUEST_CHANGES' })).toMatchObject({ status: 422 })
    expect(await submit(grace, { event: 'APPROVE' })).toMatchObject({
      status: 200,
      json: { state: 'APPROVED' },
    })
    expect(await ask('POST', `${pulls}/1/reviews`, { body: { event: 'APPROVE' } })).toMatchObject({
      status: 401,
    })
  })

  test('only its author and who may push change or delete a comment, or dismiss', async () => {
    const { json } = await submit(ada, {
      event: 'COMMENT',
      comments: [{ path: 'src/b.ts', line: 1, body: 'mine' }],
    })
    const { id } = Numbered.parse(json)
    const made = Comments.parse((await ask('GET', `${pulls}/1/reviews/${id}/comments`)).json)
    const own = `${pulls}/comments/${made[0]?.id}`
    expect(await ask('PATCH', own, { token: grace, body: { body: 'hers' } })).toMatchObject({ status: 403 })
    expect(await ask('DELETE', own, { token: grace })).toMatchObject({ status: 403 })
    expect(
      await ask('PUT', `${pulls}/1/reviews/${id}/dismissals`, { token: ada, body: { message: 'x' } }),
    ).toMatchObject({
      status: 422,
    })
    expect(await ask('DELETE', own, { token: ada })).toMatchObject({ status: 204 })
    expect(await ask('GET', own)).toMatchObject({ status: 404 })
  })

  test('a text is as long as on GitHub at most', async () => {
    const body = 'x'.repeat(65_537)
    expect(
      await ask('POST', '/repos/ada/engine/issues/1/comments', { token: ada, body: { body } }),
    ).toMatchObject({ status: 422 })
    expect(
      await ask('POST', '/repos/ada/engine/issues/99/comments', { token: ada, body: { body: 'x' } }),
    ).toMatchObject({
      status: 404,
    })
  })
})

describe('lines', () => {
  const commentAt = async (line: number, more: object = {}) => {
    const comments = [{ path: 'long.txt', line, body: `at ${line}`, ...more }]
    const { status, json } = await submit(grace, { event: 'COMMENT', comments })
    if (status !== 200) return { status, comment: undefined }
    const { id } = Numbered.parse(json)
    const [comment] = Comments.parse((await ask('GET', `${pulls}/1/reviews/${id}/comments`)).json)
    return { status, comment }
  }
  const now = async (id: number | undefined) => {
    const { json } = await ask('GET', `${pulls}/comments/${id}`)
    return Comments.element.parse(json)
  }

  test('a comment has the hunk up to its line, and only lines of the diff take one', async () => {
    const { comment } = await commentAt(10)
    expect(comment?.diff_hunk.split('\n')).toEqual([
      expect.stringMatching(/^@@ -7,7 \+7,7 @@/),
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+the tenth, changed',
    ])
    const left = await commentAt(10, { side: 'LEFT' })
    expect(left.comment?.diff_hunk.split('\n').at(-1)).toBe('-line 10')
    expect(await commentAt(20)).toMatchObject({ status: 422 })
    expect(await commentAt(10, { start_line: 10 })).toMatchObject({ status: 422 })
    expect(await commentAt(10, { path: 'README.md' })).toMatchObject({ status: 422 })
  })

  test('new commits move a comment with its line, and leave it behind when the line went', async () => {
    const [tenth, thirtieth] = [await commentAt(10), await commentAt(30)]
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`)
    lines[9] = 'the tenth, changed again'
    lines[29] = 'the thirtieth, changed'
    await commit(tree, 'feature', { 'long.txt': `a first line\n${lines.join('\n')}\n` })
    await push('feature')
    expect(await now(tenth.comment?.id)).toMatchObject({ line: null, original_line: 10 })
    const moved = await now(thirtieth.comment?.id)
    expect(moved).toMatchObject({ line: 31, original_line: 30 })
    expect(moved.commit_id).not.toBe(moved.original_commit_id)
  })
})

describe('by GraphQL', () => {
  const Answer = z.object({
    data: z.unknown(),
    errors: z.array(z.object({ type: z.string().optional(), message: z.string() })).optional(),
  })
  async function query(token: string, text: string) {
    const response = await fetch(`${local.url}/api/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: text }),
    })
    expect(response.status).toBe(200)
    return Answer.parse(await response.json())
  }
  const onPull = (fields: string) =>
    `{ repository(owner: "ada", name: "engine") { pullRequest(number: 1) { ${fields} } } }`
  const Threads = z.object({
    repository: z.object({
      pullRequest: z.object({
        reviewThreads: z.object({
          totalCount: z.number(),
          pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string() }),
          nodes: z.array(
            z.object({
              id: z.string(),
              isResolved: z.boolean(),
              isOutdated: z.boolean(),
              path: z.string(),
              comments: z.object({
                nodes: z.array(z.object({ body: z.string(), lastEditedAt: z.string().nullable() })),
              }),
            }),
          ),
        }),
      }),
    }),
  })
  const threadFields = `totalCount pageInfo { hasNextPage endCursor }
    nodes { id isResolved isOutdated path line comments(first: 5) { nodes { databaseId body createdAt lastEditedAt author { login } } } }`
  const threads = async (page = 'first: 50') => {
    const { data } = await query(grace, onPull(`reviewThreads(${page}) { ${threadFields} }`))
    return Threads.parse(data).repository.pullRequest.reviewThreads
  }

  test('threads have their comments, and whether the text was changed; a page says what follows', async () => {
    const all = await threads()
    expect(all.nodes[0]).toMatchObject({ path: 'src/b.ts', isResolved: false })
    expect(all.nodes[0]?.comments.nodes.map(({ body }) => body)).toEqual(['Why?', 'Because.'])
    expect(all.nodes[0]?.comments.nodes[0]?.lastEditedAt).toEqual(expect.any(String))
    expect(all.nodes[0]?.comments.nodes[1]?.lastEditedAt).toBeNull()
    expect(all.nodes.some(({ isOutdated }) => isOutdated)).toBe(true)
    const one = await threads('first: 1')
    expect(one).toMatchObject({ totalCount: all.totalCount, pageInfo: { hasNextPage: true } })
    const next = await threads(`first: 1, after: "${one.pageInfo.endCursor}"`)
    expect(next.nodes.map(({ id }) => id)).toEqual([all.nodes[1]?.id])
    const { errors } = await query(grace, onPull('reviewThreads { totalCount }'))
    expect(errors).toMatchObject([{ message: expect.stringContaining('`first` or `last`') }])
  })

  test('a thread is resolved by who may push, and a refusal is an error in a 200', async () => {
    const id = (await threads()).nodes[0]?.id
    const change = (name: string) =>
      `mutation { ${name}(input: {threadId: "${id}"}) { thread { isResolved resolvedBy { login } } } }`
    expect((await query(grace, change('resolveReviewThread'))).errors).toMatchObject([{ type: 'FORBIDDEN' }])
    expect((await threads()).nodes[0]?.isResolved).toBe(false)
    expect(await query(ada, change('resolveReviewThread'))).toMatchObject({
      data: { resolveReviewThread: { thread: { isResolved: true, resolvedBy: { login: 'ada' } } } },
    })
    await query(ada, change('unresolveReviewThread'))
    expect((await threads()).nodes[0]?.isResolved).toBe(false)
  })

  test('a token that was not granted what a field or change needs is told so in a 200', async () => {
    const hidden = await local.codeHost.createRepository(ada, {
      name: 'hidden',
      description: '',
      isPrivate: true,
    })
    const access = await local.codeHost.gitAccess(ada, hidden)
    await gitDone(tree, ['push', '-q', access.url, 'main', 'feature'], access)
    const request = { head: 'feature', base: 'main', title: 'Change', body: '', draft: false }
    await local.codeHost.openPullRequest(ada, { owner: 'ada', name: 'hidden' }, request)
    const narrow = await installationToken({ contents: 'read', pull_requests: 'write' })
    const onHidden = (fields: string) =>
      `{ repository(owner: "ada", name: "hidden") { pullRequest(number: 1) { ${fields} } } }`
    const asked = await query(
      narrow,
      onHidden('title commits(last: 1) { nodes { commit { statusCheckRollup { state } } } }'),
    )
    expect(asked).toMatchObject({
      data: { repository: { pullRequest: { title: 'Change' } } },
      errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }],
    })
    const id = (await threads()).nodes[0]?.id
    const resolve = `mutation { resolveReviewThread(input: {threadId: "${id}"}) { thread { isResolved } } }`
    expect((await query(narrow, resolve)).errors).toMatchObject([{ type: 'FORBIDDEN' }])
    const wide = await installationToken({ contents: 'write', pull_requests: 'write' })
    expect(await query(wide, resolve)).toMatchObject({
      data: { resolveReviewThread: { thread: { isResolved: true } } },
    })
  })

  test('the whole of what is said comes in one question', async () => {
    const fields = `author { login } body mergeable mergeStateStatus commits(last: 1) { nodes { commit { oid } } } headRefOid
      comments(last: 5) { nodes { body } } reviews(first: 20, states: [APPROVED]) { nodes { state author { login } commit { oid } } }`
    expect(await query(grace, onPull(fields))).toMatchObject({
      data: {
        repository: {
          pullRequest: {
            author: { login: 'ada' },
            mergeable: 'MERGEABLE',
            mergeStateStatus: 'CLEAN',
            comments: { nodes: [{ body: 'See.' }] },
            reviews: { nodes: [{ state: 'APPROVED', author: { login: 'grace' } }] },
          },
        },
      },
    })
  })
})
