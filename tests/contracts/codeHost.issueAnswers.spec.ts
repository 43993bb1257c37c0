/** How the adapter handles rare answers about issues and pull requests: long lists, missing rights, and deleted things. */
import { createServer, type RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { requestsTo } from '#platform/codehost/request.ts'
import { registered } from './codeHost.fixture.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A host that answers as `listener` says, at an address that it knows, and the adapter that asks it. */
async function hostOf(listener: (url: string) => RequestListener) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    listener(url)(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  closing.push(
    () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  )
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const requests = requestsTo({ apiUrl: url, serverUrl: url, paced: false })
  return { asked, codeHost: githubCodeHost({ serverUrl: url, requests, app: async () => registered }) }
}

const at = { owner: 'ada', name: 'engine' }
const time = '2026-01-31T12:00:00Z'
const answer =
  (body: unknown): (() => RequestListener) =>
  () =>
  (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }

/** What comments and reviews have in common. */
const comment = {
  user: null,
  body: '',
  created_at: time,
  path: 'a.ts',
  state: 'COMMENTED',
  submitted_at: time,
}

/** A host with so many comments, and labels that were set, on an issue, and so many reviews and comments on a pull request. */
const many = (count: number, hasLast = true) =>
  hostOf((url) => (request, response) => {
    const asked = new URL(request.url ?? '', url)
    const page = Number(asked.searchParams.get('page'))
    const last = Math.ceil(count / 100)
    const numbers = Array.from({ length: count }, (_, n) => n + 1).slice((page - 1) * 100, page * 100)
    const items = numbers.map((id) =>
      asked.pathname.endsWith('/events')
        ? { event: 'labeled', actor: null, created_at: time, label: { name: `${id}` } }
        : { ...comment, id, node_id: `IC_${id}`, html_url: url },
    )
    const link = (to: number, rel: string) =>
      `<${url}${asked.pathname}?per_page=100&page=${to}>; rel="${rel}"`
    const links = page < last ? [link(page + 1, 'next'), ...(hasLast ? [link(last, 'last')] : [])] : []
    response
      .writeHead(200, {
        'Content-Type': 'application/json',
        ...(links.length > 0 && { link: links.join(', ') }),
      })
      .end(JSON.stringify(items))
  })

describe('a long list of what happened to an issue', () => {
  test.each([
    ['none', 0, true, [undefined, undefined, 0, false]],
    ['one page', 100, true, ['1', '100', 100, false]],
    ['ten pages', 1_000, true, ['1', '1000', 1_000, false]],
    ['more: the latest, and says that it is cut', 1_234, true, ['301', '1234', 934, true]],
    ['more, where the last page is not named: it is cut', 1_234, false, ['1', '1000', 1_000, true]],
  ] as const)('has %s', async (_what, count, hasLast, [first, last, length, isCut]) => {
    const { codeHost } = await many(count, hasLast)
    const found = await codeHost.issueEvents('ghu_x', at, 1)
    expect([found.events[0]?.label, found.events.at(-1)?.label, found.events.length, found.isCut]).toEqual([
      first,
      last,
      length,
      isCut,
    ])
    const { comments, isCut: isCommentsCut } = await codeHost.issueComments('ghu_x', at, 1, null)
    expect([comments[0]?.id, comments.at(-1)?.id, isCommentsCut]).toEqual([first, last, isCut])
  })
  test('of comments is asked for since a time', async () => {
    const { codeHost, asked } = await many(1)
    await codeHost.issueComments('ghu_x', at, 1, time)
    expect(asked).toEqual([expect.stringContaining(`since=${encodeURIComponent(time)}`)])
  })
})

test('of a long list of reviews and comments on a pull request, the latest are read', async () => {
  const { codeHost } = await many(1_234)
  const feedback = await codeHost.pullRequestFeedback('ghu_x', at, 1)
  for (const list of [feedback.reviews, feedback.lines, feedback.comments])
    expect([list[0]?.id, list.at(-1)?.id, list.length]).toEqual(['301', '1234', 934])
})

describe('what an issue says', () => {
  const issue = { title: 'A', body: 'B', author: null, state: 'OPEN', lastEditedAt: null, editor: null }
  const text = async (body: unknown) => {
    const { codeHost } = await hostOf(answer(body))
    return codeHost.issueText('ghu_x', 'I_1', ['IC_1'])
  }
  test.each([
    [
      'the App lacks the right',
      { type: 'FORBIDDEN', path: ['node'], message: 'Resource not accessible by integration' },
      { kind: 'forbidden', message: 'Resource not accessible by integration' },
    ],
    ['it is gone', { type: 'NOT_FOUND', path: ['node'], message: 'Gone.' }, { kind: 'not_found' }],
    ['the host gives no reason', undefined, { kind: 'not_found' }],
    [
      'something else is not shown',
      { type: 'FORBIDDEN', path: ['nodes', 0], message: 'No.' },
      { kind: 'not_found' },
    ],
  ])('is not told where %s, with the reason', async (_why, error, fault) => {
    const errors = error === undefined ? {} : { errors: [error] }
    await expect(text({ data: { node: null, nodes: [null] }, ...errors })).rejects.toMatchObject(fault)
  })
  test('is not understood where it has another form, and gone where it is no issue any more', async () => {
    await expect(text({ data: { node: { title: 7 }, nodes: [] } })).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await expect(text({ data: { node: {}, nodes: [] } })).rejects.toMatchObject({ kind: 'not_found' })
  })
  test('says who changed it last, also where that is a bot or nobody any more', async () => {
    const edited = (editor: unknown) => ({ ...issue, lastEditedAt: time, editor })
    const comment = (editor: unknown) => ({ id: 'IC_1', body: 'C', lastEditedAt: time, editor })
    const ada = { __typename: 'User', login: 'ada', databaseId: 1001 }
    const bot = { __typename: 'Bot', login: 'fmt' }
    const by = async (editor: unknown) =>
      text({ data: { node: edited(editor), nodes: [comment(editor), null, {}] } })
    const person = { at: expect.any(String), by: { id: '1001', login: 'ada', isBot: false } }
    expect(await by(ada)).toMatchObject({
      edit: person,
      comments: new Map([['IC_1', { body: 'C', edit: person }]]),
    })
    expect(await by(bot)).toMatchObject({ edit: { by: null } })
    expect(await by(null)).toMatchObject({ edit: { by: null } })
    expect(await text({ data: { node: issue, nodes: [] } })).toMatchObject({ edit: null, isOpen: true })
  })
})
