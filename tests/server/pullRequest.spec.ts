/** Pull requests over several turns: proposed, created as a draft, updated by the turns themselves, and rebased on what others pushed. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { getMe } from '#domain/api/auth.schema.ts'
import { getChat, sendMessage } from '#domain/api/chat.schema.ts'
import { getFigures } from '#domain/api/figures.schema.ts'
import { getSeals } from '#domain/api/history.schema.ts'
import { createPullRequest, executeTask, getPullRequest, getTaskDiff } from '#domain/api/tasks.schema.ts'
import { agentTraceRef, TraceRecord } from '#domain/provenance/agentTrace.ts'
import { gitDone } from '../contracts/codeHost.fixture.ts'
import { note } from '../report/notes.ts'
import { runProduct } from '../product.ts'
import { bareRepository, codeHostToken, pushElsewhere } from './pushing.ts'
import { hasEnded, openScene, type Scene } from './scene.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Work' } })

let scene: Scene
let taskId = ''
let branch = ''
let token = ''
beforeAll(async () => {
  scene = await openScene(
    [
      {
        when: /Say goodbye/,
        turns: [
          { tools: [bash('echo Goodbye. >> README.md; echo 1 > new.txt')] },
          { text: 'The README says goodbye now.' },
        ],
      },
      {
        when: /And in German/,
        turns: [{ tools: [bash('echo 2 >> new.txt')] }, { text: 'Auch auf Deutsch.' }],
      },
      { when: /Once more/, turns: [{ tools: [bash('echo ours > src/greet.js')] }, { text: 'Once more.' }] },
    ],
    { env: { ORIGIN_NOTES: '1' } },
  )
  const task = await scene.ada.task(scene.projectId, 'Say goodbye\nin the README')
  taskId = task.id
  const ended = await scene.ada.taskOnce(taskId, hasEnded)
  branch = ended.workingBranch ?? ''
})
afterAll(() => scene?.close())

const params = () => ({ taskId })
const Pull = z.object({
  number: z.number(),
  title: z.string(),
  body: z.string().nullable(),
  draft: z.boolean(),
  state: z.string(),
  head: z.object({ sha: z.string() }),
})
const pullRequest = async () =>
  Pull.parse(await (await fetch(`${scene.product.codeHostUrl}/api/v3/repos/ada/engine/pulls/1`)).json())
const address = () => `${scene.product.base.replace('127.0.0.1', 'localhost')}/tasks/${taskId}`
/** The text, and after it the link to the task's record and how the log was sealed with it. */
const withRecord = (body: string) => {
  const seal = /sealed with \d+ events of log [0-9a-f-]{36}, root `[0-9a-f]{64}`/.source
  const [text, link] = [body, `[Record of this task](${address()})`].map((each) =>
    each.replace(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`),
  )
  const key = /To check the record, give `flightdeck-verify` the key `([0-9a-f]{4} ){7}[0-9a-f]{4}`\./.source
  return expect.stringMatching(new RegExp(`^${text}\n\n---\n\n${link} · ${seal}\n\n${key}\n?$`))
}
const saidBySystem = async () =>
  (await scene.ada.ask(getChat, { params: params() })).messages.flatMap(({ messageType, message }) =>
    messageType === 'system' ? [message] : [],
  )
/** The files of the note beside a commit, with how many ranges of each an agent wrote; every conversation leads to a moment of the task. */
const linesIn = async (commit: string): Promise<readonly string[]> => {
  const bare = await bareRepository(scene.product.dataDir)
  const sha = await gitDone(bare, ['rev-parse', commit])
  const { vcs, files } = TraceRecord.parse(
    JSON.parse(await gitDone(bare, ['notes', `--ref=${agentTraceRef}`, 'show', sha])),
  )
  expect(vcs?.revision).toBe(sha)
  return files.map(({ path, conversations }) => {
    expect(conversations).toMatchObject([
      {
        url: expect.stringMatching(new RegExp(`/tasks/${taskId}/history\\?at=\\d+$`)),
        contributor: { type: 'ai', model_id: expect.stringMatching(/^anthropic\//) },
      },
    ])
    return `${path} ${conversations.flatMap(({ ranges }) => ranges).length}`
  })
}
/** Changes the pull request at the code host. */
const change = (fields: object) =>
  fetch(`${scene.product.codeHostUrl}/api/v3/repos/ada/engine/pulls/1`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  })
/** Pushes a change to the task's branch from elsewhere. */
const pushes = (files: Readonly<Record<string, string>>): Promise<void> =>
  pushElsewhere({ dataDir: scene.product.dataDir, clone: `${scene.repository}-elsewhere`, branch }, files)
const says = async (message: string, turn: number) => {
  await scene.ada.ask(sendMessage, { params: params(), body: { message } })
  await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === turn)
}

describe('before there is a pull request', () => {
  test('one is proposed, of the task, and what the agent said', async () => {
    const { pr, proposal, autoUpdate } = await scene.ada.ask(getPullRequest, { params: params() })
    expect({ pr, autoUpdate }).toEqual({ pr: null, autoUpdate: false })
    expect(proposal).toEqual({
      title: 'Say goodbye',
      body: ['in the README', '', '## What was done', '', 'The README says goodbye now.'].join('\n'),
    })
  })

  test('of another person’s task nothing is proposed', async () => {
    const grace = await scene.product.signIn('grace')
    expect(await grace.refused(getPullRequest, { params: params() })).toMatchObject({ status: 404 })
  })
})

describe('a pull request', () => {
  test('is a draft with the proposed words, by the person and with the agent, when that is asked for', async () => {
    const { proposal } = await scene.ada.ask(getPullRequest, { params: params() })
    const body = { draft: true, autoUpdate: true }
    const { pr } = await scene.ada.ask(createPullRequest, { params: params(), body })
    expect(pr.number).toBe(1)
    expect(await pullRequest()).toMatchObject({
      title: proposal.title,
      body: withRecord(proposal.body),
      draft: true,
      state: 'open',
    })
    const told = await gitDone(await bareRepository(scene.product.dataDir), [
      'log',
      '-1',
      '--format=%an <%ae>%n%B',
      branch,
    ])
    expect(told).toBe(
      [
        'Ada Lovelace <1001+ada@users.noreply.localhost>\nSay goodbye\n',
        `Flightdeck-Task: ${address()}`,
        'Flightdeck-Turn: 1',
        'Co-Authored-By: Claude <noreply@anthropic.com>',
      ].join('\n'),
    )
    expect(await linesIn(branch)).toEqual(['README.md 1', 'new.txt 1'])
    expect(await scene.ada.ask(getPullRequest, { params: params() })).toMatchObject({
      pr: { number: 1, html_url: pr.html_url },
      proposal,
      autoUpdate: true,
    })
  })

  // Holds findings 1.121.
  test('recorder H4: names the key of its record by the fingerprint that the API and the operator’s command show', async () => {
    const { keys, seal } = await scene.ada.ask(getSeals)
    expect(keys).toHaveLength(1)
    expect((await pullRequest()).body).toContain(`the key \`${keys[0]?.fingerprint}\`.`)
    expect(seal?.size).toBeGreaterThan(0)
    const env = { PATH: process.env['PATH'] ?? '' }
    const shown = await runProduct(env, ['key', '--data', scene.product.dataDir])
    expect(shown).toMatchObject({ code: 0, stdout: `${keys[0]?.fingerprint}  ${keys[0]?.verifierKey}\n` })
    const nowhere = await runProduct(env, ['key', '--data', join(scene.product.dataDir, 'nowhere')])
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringMatching(/^There is no data folder at/) })
  })

  test('has the words that a person gives it later, and keeps them', async () => {
    const body = { title: 'Farewell', body: 'As we agreed.' }
    await scene.ada.ask(createPullRequest, { params: params(), body })
    const given = { title: body.title, body: withRecord(body.body) }
    expect(await pullRequest()).toMatchObject(given)
    await scene.ada.ask(createPullRequest, { params: params() })
    expect(await pullRequest()).toMatchObject(given)
    expect((await scene.ada.ask(getPullRequest, { params: params() })).proposal).toEqual(body)
  })

  test('is updated by the next turn, on top of what others pushed, though the server is killed as it ends', async () => {
    await pushes({ 'theirs.txt': 'theirs\n' })
    await says('And in German', 2)
    await scene.product.kill9()
    await scene.product.restart()
    const updates = async () => (await saidBySystem()).filter((message) => /updated/.test(message ?? ''))
    // Two of them were asked for.
    await expect.poll(updates).toHaveLength(3)
    const bare = await bareRepository(scene.product.dataDir)
    const log = await gitDone(bare, ['log', '--format=%s', `main..${branch}`])
    expect(log).toBe('And in German\nChange theirs.txt\nSay goodbye')
    expect(await gitDone(bare, ['show', `${branch}:new.txt`])).toBe('1\n2')
    await expect.poll(() => linesIn(branch)).toEqual(['new.txt 1'])
    expect(await linesIn(`${branch}~2`)).toEqual(['README.md 1', 'new.txt 1'])
    const { data } = await scene.ada.ask(getTaskDiff, { params: params() })
    expect(data.changedFiles.map(({ fileName }) => fileName)).toContain('new.txt')
    // What came in is in the agent's files as well.
    await scene.ada.ask(executeTask, { params: params(), body: { command: 'cat theirs.txt > seen.txt' } })
    await scene.ada.taskOnce(taskId, (task) => hasEnded(task) && task.execution?.turn === 3)
    await scene.ada.ask(createPullRequest, { params: params() })
    expect(await gitDone(bare, ['show', `${branch}:seen.txt`])).toBe('theirs')
  })

  test('whose base was changed at the code host is updated all the same', async () => {
    const { ada, product } = scene
    const { user } = await ada.ask(getMe)
    await product.terminate()
    token = await codeHostToken(product.dataDir, user.id)
    await product.restart()
    await gitDone(await bareRepository(product.dataDir), ['branch', 'release', 'main'])
    expect((await change({ base: 'release' })).status).toBe(200)
    const { head } = await pullRequest()
    await says('And in German', 4)
    await expect.poll(async () => (await pullRequest()).head).not.toEqual(head)
    await expect.poll(async () => (await saidBySystem()).at(-1)).toMatch(/^Pull request #1 updated/)
    expect(await ada.ask(getPullRequest, { params: params() })).toMatchObject({
      pr: { number: 1 },
      autoUpdate: true,
    })
  })

  test('that is at odds with what others pushed is left as it is, and the chat names the files', async () => {
    await pushes({ 'src/greet.js': 'theirs\n' })
    const bare = await bareRepository(scene.product.dataDir)
    const head = await gitDone(bare, ['rev-parse', branch])
    await says('Once more', 5)
    await expect
      .poll(async () => (await saidBySystem()).at(-1))
      .toMatch(/^The pull request was not updated: .* at odds with this task's work in src\/greet\.js\./)
    expect(await gitDone(bare, ['rev-parse', branch])).toBe(head)
    const asked = await scene.ada.refused(createPullRequest, { params: params() })
    expect(asked).toMatchObject({ status: 422, error: expect.stringContaining('src/greet.js') })
  })

  test('that was closed is updated no more, and the chat says so', async () => {
    const { ada } = scene
    expect((await change({ state: 'closed' })).status).toBe(200)
    await says('And in German', 6)
    await expect.poll(async () => (await saidBySystem()).at(-1)).toMatch(/^Pull request #1 is no longer open/)
    expect(await ada.ask(getPullRequest, { params: params() })).toMatchObject({ autoUpdate: false })
  })
})

test('a workspace that is gone is made anew for a pull request, with the work as it was', async () => {
  const { ada, product, projectId } = scene
  const { id } = await ada.task(projectId, 'Say goodbye')
  const { workingBranch } = await ada.taskOnce(id, hasEnded)
  await product.terminate()
  await rm(join(product.dataDir, 'runner/tasks', id), { recursive: true })
  await product.restart()
  expect((await ada.ask(createPullRequest, { params: { taskId: id } })).pr.number).toBe(2)
  const bare = await bareRepository(product.dataDir)
  expect(await gitDone(bare, ['show', `${workingBranch}:new.txt`])).toBe('1')
})

test('one that is merged at the code host shows so at once, takes no more work, and counts', async () => {
  const { ada, product, projectId } = scene
  const { id } = await ada.task(projectId, 'Say goodbye')
  await ada.taskOnce(id, hasEnded)
  const of = { params: { taskId: id } }
  const { pr } = await ada.ask(createPullRequest, { ...of, body: { title: 'Third', draft: true } })
  await ada.taskOnce(id, ({ pullRequest }) => pullRequest?.state === 'draft')
  const press = async (button: string) => {
    const page = `${product.codeHostUrl}/ada/engine/pull/${pr.number}`
    const { status } = await fetch(`${page}/${button}`, { method: 'POST', redirect: 'manual' })
    expect(status).toBe(303)
  }
  await press('ready')
  await ada.taskOnce(id, ({ pullRequest }) => pullRequest?.state === 'open')
  await press('close')
  await ada.taskOnce(id, ({ pullRequest }) => pullRequest?.state === 'closed')
  expect(await ada.refused(createPullRequest, of)).toMatchObject({
    status: 409,
    code: 'pull_request_closed',
    error: `Pull request #${pr.number} was closed. Reopen it on GitHub, or open a new one.`,
  })
  await press('reopen')
  await ada.taskOnce(id, ({ pullRequest }) => pullRequest?.state === 'open')
  const begun = performance.now()
  await press('merge')
  const merged = await ada.taskOnce(id, ({ pullRequest }) => pullRequest?.state === 'merged')
  note('from a merge to the answer of the API, by webhook', `${Math.round(performance.now() - begun)} ms`)
  expect(merged.pullRequest).toEqual({
    state: 'merged',
    mergedBy: 'ada',
    mergedAt: expect.any(String),
    unreadable: null,
  })
  expect(await ada.refused(createPullRequest, of)).toMatchObject({
    status: 409,
    code: 'pull_request_merged',
  })
  // Words for another one, and not those of the one that was merged.
  expect((await ada.ask(getPullRequest, of)).proposal.title).toBe('Say goodbye')
  const figures = await ada.ask(getFigures)
  expect([figures.mergedPullRequests, figures.total.mergedPullRequests]).toEqual([1, 1])
})
