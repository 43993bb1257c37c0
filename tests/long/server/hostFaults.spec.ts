/**
 * GitHub on a bad day: one fault for each of fetch, push, opening a pull request and commenting, with the whole product. Each action has one result,
 * no task fails because of a single fault, and no requests are made while the code host asked to wait.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { listFeedback, sendFeedback } from '#domain/api/feedback.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import {
  gitDone,
  localRepository,
  signIn,
  startLocal,
  clientId,
  clientSecret,
  type LocalCodeHost,
} from '../../contracts/codeHost.fixture.ts'
import type { Live } from '../../product/live.ts'
import type { Person } from '../../product/person.ts'
import { ownFolder, startProduct, type Product } from '../../product.ts'
import { startFaultyHost, type FaultyHost, type Met } from '../../standins/faultyHost.ts'
import { startMessagesApi, type MessagesApi } from '../../standins/messagesApi.ts'
import { eventually } from '../../server/engines.ts'
import { files, hasEnded, watching } from '../../server/scene.ts'

const work = { name: 'Bash', input: { command: 'date +%N >> README.md', description: 'Work' } }
let folder = ''
let host: FaultyHost
let local: LocalCodeHost
let api: MessagesApi
let product: Product
let ada: Person
let projectId = ''
const tokens = new Map<string, string>()

beforeAll(async () => {
  folder = await ownFolder()
  const repository = join(folder, 'engine')
  await localRepository(repository, files)
  host = await startFaultyHost()
  local = await startLocal(join(folder, 'codehost'), { seeds: [{ source: repository }] })
  host.passTo(local.url)
  api = await startMessagesApi([{ turns: [{ tools: [work] }, { text: 'It is done.' }] }])
  if (!local.app) throw new Error('The local code host has no App.')
  product = await startProduct({
    model: { messagesApi: api },
    env: {
      GITHUB_SERVER_URL: host.url,
      GITHUB_API_URL: `${host.url}/api/v3`,
      GITHUB_CLIENT_ID: clientId,
      GITHUB_CLIENT_SECRET: clientSecret,
      GITHUB_APP_ID: String(local.app.id),
      GITHUB_APP_SLUG: local.app.slug,
      GITHUB_APP_PRIVATE_KEY: local.app.privateKey,
      GITHUB_POLL_SECONDS: '1',
      FEEDBACK_GATHER_SECONDS: '1',
    },
  })
  ada = await product.signIn('ada')
  projectId = await ada.project('engine')
  for (const login of ['ada', 'grace']) tokens.set(login, (await signIn(local.codeHost, login)).accessToken)
  const from = local.url.replace('http://', `http://x:${tokens.get('ada')}@`)
  await gitDone(folder, ['clone', '--quiet', `${from}/ada/engine.git`, 'clone'])
})
afterAll(async () => {
  await product?.stop()
  await local?.stop()
  await host?.close()
  await api?.close()
  await rm(folder, { recursive: true, force: true })
})

async function atHost(login: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${local.api}/repos/ada/engine${path}`, {
    method,
    headers: { authorization: `Bearer ${tokens.get(login)}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
  return response.json()
}

const done = async (text: string) => {
  const { id } = await ada.task(projectId, text)
  return ada.taskOnce(id, hasEnded)
}
const before = (how: Met['how']): Met => ({ when: 'before', how })
const after = (how: Met['how']): Met => ({ when: 'after', how })
const bad = { status: 502 }

/** A clone of a person beside the product. */
const clone = (...args: string[]) =>
  gitDone(join(folder, 'clone'), ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args])
/** Something new at the host, so that there is something to fetch. */
async function newAtHost(): Promise<void> {
  await clone('commit', '--quiet', '--allow-empty', '-m', 'New')
  await clone('push', '--quiet', 'origin', 'HEAD:main')
}

describe('github 3.1: a task goes on', () => {
  test.each([
    ['a fetch is refused with 502', /GET .*service=git-upload-pack/, before(bad)],
    ['a fetch is refused with 503 with what it asks for', /POST .*git-upload-pack/, before({ status: 503 })],
    ['the connection of a fetch breaks', /GET .*service=git-upload-pack/, before('cut')],
    ['a fetch is cut within its pack', /POST .*git-upload-pack/, after('half')],
    [
      'the token of a fetch is not taken',
      /GET .*service=git-upload-pack/,
      before({ status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }),
    ],
  ] as const)('where once %s', async (what, of, met) => {
    await newAtHost()
    const meeting = host.meet(of, met)
    expect(await done(what)).toMatchObject({ status: 'completed' })
    expect(meeting.isOver()).toBe(true)
  })
})

const Pulls = z.array(z.object({ number: z.number(), head: z.object({ ref: z.string() }) }))
const pullsOf = async (branch: string) =>
  Pulls.parse(await atHost('ada', 'GET', '/pulls?per_page=100')).filter(({ head }) => head.ref === branch)

/** The task's one pull request at the host, whose branch has one commit. */
async function onePullRequest(branch: string | null): Promise<number | undefined> {
  const pulls = await pullsOf(branch ?? '')
  expect(pulls).toHaveLength(1)
  await clone('fetch', '--quiet', 'origin')
  expect(await clone('rev-list', '--count', `origin/main..origin/${branch}`)).toBe('1')
  return pulls[0]?.number
}

describe('github 3.5: a pull request is opened once, by one click', () => {
  test.each([
    ['its push is refused with 502', /GET .*service=git-receive-pack/, before(bad)],
    ['its push is refused with 502 with what it brings', /POST .*git-receive-pack/, before(bad)],
    ['its push is cut before it is taken', /POST .*git-receive-pack/, before('cut')],
    ['its push is cut after it was taken', /POST .*git-receive-pack/, after('cut')],
    ['the host answers 502 before it is made', /POST .*\/pulls$/, before(bad)],
    ['the host answers 502 after it was made', /POST .*\/pulls$/, after(bad)],
    ['the connection breaks after it was made', /POST .*\/pulls$/, after('cut')],
    ['half an answer comes after it was made', /POST .*\/pulls$/, after('half')],
  ] as const)('where once %s', async (what, of, met) => {
    const { id, workingBranch } = await done(what)
    const meeting = host.meet(of, met)
    const { pr } = await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })
    expect(meeting.isOver()).toBe(true)
    expect(await onePullRequest(workingBranch)).toBe(pr.number)
  })
})

describe('github 3.4: a limit is answered as one', () => {
  test.each([
    ['a secondary limit', { status: 403, headers: { 'retry-after': '8' } }],
    ['too many requests', { status: 429, headers: { 'retry-after': '8' } }],
  ] as const)(
    '%s: 429 with Retry-After, and nothing is asked of the host with that token until then',
    async (what, how) => {
      const { id, workingBranch } = await done(what)
      host.meet(/POST .*\/pulls$/, before(how))
      const click = () => ada.api('POST', `/tasks/${id}/pr`, {})
      const refused = await click()
      const told = performance.now()
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      const seconds = Number(refused.headers.get('retry-after'))
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThanOrEqual(8)
      host.take()
      const again = await click()
      expect(again).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      await eventually('the wait is over', async () => performance.now() > told + seconds * 1_000)
      const during = host.take().filter(({ at }) => at < told + (seconds - 1) * 1_000)
      expect(during.filter(({ token }) => token === 'ghu_')).toEqual([])
      await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })
      await onePullRequest(workingBranch)
    },
  )
})

describe('github 3.5: an answer is written once', () => {
  let live: Live | undefined
  afterAll(() => live?.close())

  test('where the host answers 502 after it was written', async () => {
    const { id } = await done('a comment')
    const { pr } = await ada.ask(createPullRequest, { params: { taskId: id }, body: {} })
    live = await watching(ada, id)
    await atHost('grace', 'POST', `/pulls/${pr.number}/reviews`, {
      event: 'COMMENT',
      body: 'Say it louder.',
      // Its answer goes into a thread, where no other comment of ours does.
      comments: [{ path: 'README.md', line: 4, body: 'Here.' }],
    })
    let feedbackId = ''
    await eventually(
      'the review is there',
      async () => {
        feedbackId = (await ada.ask(listFeedback, { params: { taskId: id } })).feedback[0]?.id ?? ''
        return feedbackId !== ''
      },
      30_000,
    )
    const meeting = host.meet(/POST .*\/pulls\/\d+\/comments\/\d+\/replies$/, after(bad))
    await ada.ask(sendFeedback, { params: { taskId: id, feedbackId }, body: {} })
    const written = async () => (await ada.ask(listFeedback, { params: { taskId: id } })).feedback[0]?.answer
    await eventually('it is answered', async () => (await written()) === 'answered')
    expect(meeting.isOver()).toBe(true)
    expect(await atHost('ada', 'GET', `/pulls/${pr.number}/comments`)).toHaveLength(2)
  })
})
