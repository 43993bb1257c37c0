/** Conversations, checks and issues of the local code host by hand: forms of its pages, and what the API answers after they were sent. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { askRest } from './codeHost.apps.fixture.ts'
import { browserOf, placeOf, type Browser } from './codeHost.browser.fixture.ts'
import {
  commit,
  gitDone,
  signIn,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from './codeHost.fixture.ts'

let folder: Folder
let local: LocalCodeHost
let token: string
let ada: Browser
let grace: Browser
const repo = '/ada/engine'
const pull = `${repo}/pull/1`

beforeAll(async () => {
  folder = await temporaryFolder()
  local = await startLocal(join(folder.path, 'data'))
  token = (await signIn(local.codeHost, 'ada')).accessToken
  const made = await local.codeHost.createRepository(token, {
    name: 'engine',
    description: '',
    isPrivate: false,
  })
  const access = await local.codeHost.gitAccess(token, made)
  const tree = join(folder.path, 'tree')
  await gitDone(folder.path, ['clone', '-q', access.url, tree], access)
  await commit(tree, 'main', { 'README.md': 'engine\n' })
  await commit(tree, 'feature', { 'src/b.ts': 'one\ntwo\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'main', 'feature'], access)
  const at = { owner: 'ada', name: 'engine' }
  await local.codeHost.openPullRequest(token, at, {
    head: 'feature',
    base: 'main',
    title: 'Add b',
    body: '',
    draft: false,
  })
  ada = await browserOf(local, 'ada')
  grace = await browserOf(local, 'grace')
})
afterAll(async () => {
  await local.stop()
  await folder.remove()
})

const rest = async (path: string) => (await askRest(local.api, ['GET', `/repos${path}`], { token })).json
const pageOf = async (browser: Browser, path: string) => {
  const answer = await browser.get(path)
  expect(answer.status).toBe(200)
  return answer.text()
}

describe('a pull request', () => {
  test('has a link at each line of its diff to the form for a comment on it', async () => {
    const [, link = ''] = /href="([^"]*line=2#comment)"/.exec(await pageOf(grace, pull)) ?? []
    const withForm = await pageOf(grace, link.replaceAll('&amp;', '&').replace(/#.*/, ''))
    const fields = Object.fromEntries(
      [...withForm.matchAll(/<input\s+type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g)].map(
        ([, name, value]) => [name, value],
      ),
    )
    const {
      path = '',
      side = '',
      line = '',
      commit: head = '',
    } = z.record(z.string(), z.string()).parse(fields)
    expect({ path, side, line }).toEqual({ path: 'src/b.ts', side: 'RIGHT', line: '2' })
    placeOf(
      await grace.submit(`${pull}/lines`, { path, side, line, commit: head, body: 'Why <b>two</b>?' }),
      local.url,
    )
    expect(await rest(`${repo}/pulls/1/comments`)).toMatchObject([
      { path: 'src/b.ts', line: 2, body: 'Why <b>two</b>?', user: { login: 'grace' } },
    ])
  })

  test('shows the thread, takes an answer, and lets who may resolve it', async () => {
    const shown = await pageOf(grace, pull)
    expect(shown).toContain('Why &lt;b&gt;two&lt;/b&gt;?')
    expect(shown).not.toContain('Resolve conversation')
    const [, reply = ''] = /action="([^"]*\/reply)"/.exec(shown) ?? []
    await ada.submit(reply, { body: 'Because.' })
    expect(await rest(`${repo}/pulls/1/comments`)).toMatchObject([{}, { body: 'Because.' }])
    const resolve = reply.replace('/reply', '/resolve')
    expect((await grace.submit(resolve, {})).status).toBe(403)
    await ada.submit(resolve, {})
    expect(await pageOf(ada, pull)).toContain('Resolved by Ada Lovelace')
  })

  test('is commented on and reviewed, and nobody judges their own', async () => {
    await grace.submit(`${pull}/comments`, { body: 'Look here.' })
    await grace.submit(`${pull}/reviews`, { body: 'Not yet.', event: 'REQUEST_CHANGES' })
    expect(await rest(`${repo}/issues/1/comments`)).toMatchObject([
      { body: 'Look here.', performed_via_github_app: null },
    ])
    const shown = await pageOf(ada, pull)
    expect(shown).toContain('Not yet.')
    expect(shown).toContain('requested changes')
    expect(shown).not.toContain('value="APPROVE"')
    expect((await ada.submit(`${pull}/reviews`, { body: '', event: 'APPROVE' })).status).toBe(422)
    expect((await grace.submit(`${pull}/comments`, { body: ' ' })).status).toBe(422)
  })

  test('takes nothing from a page of another site', async () => {
    for (const path of [`${pull}/comments`, `${pull}/reviews`, `${pull}/checks`, `${repo}/issues`]) {
      const answer = await ada.submitFromElsewhere(path, {
        body: 'x',
        title: 'x',
        name: 'x',
        conclusion: 'failure',
      })
      expect(answer.status).toBe(403)
    }
  })
})

describe('checks', () => {
  const report = {
    name: 'test',
    conclusion: 'failure',
    log: 'one\r\ntwo\r\n',
    annotations: 'src/b.ts:2: not two',
  }

  test('are reported by who may push, with a log and annotations', async () => {
    expect((await grace.submit(`${pull}/checks`, report)).status).toBe(403)
    placeOf(await ada.submit(`${pull}/checks`, report), local.url)
    const runs = z.object({ check_runs: z.array(z.looseObject({ id: z.number() })) })
    const {
      check_runs: [run],
    } = runs.parse(await rest(`${repo}/commits/feature/check-runs`))
    expect(run).toMatchObject({ name: 'test', conclusion: 'failure', app: { slug: 'github-actions' } })
    expect(await rest(`${repo}/check-runs/${run?.id}/annotations`)).toMatchObject([
      { path: 'src/b.ts', start_line: 2, message: 'not two' },
    ])
    const shown = await pageOf(grace, `${pull}/checks`)
    expect(shown).toContain('not two')
    expect(shown).not.toContain('Report a check')
    expect(await pageOf(grace, `${repo}/runs/${run?.id}/log`)).toBe('one\ntwo\n')
    expect(await pageOf(grace, pull)).toMatch(/Checks<\/a>\s*<span class="muted">failure/)
  })

  test('an annotation that is none is refused with an example', async () => {
    const answer = await ada.submit(`${pull}/checks`, { ...report, annotations: 'nonsense' })
    expect(answer.status).toBe(422)
    expect(await answer.text()).toContain('src/a.ts:3')
  })
})

describe('issues', () => {
  test('are opened, labelled, commented on and closed', async () => {
    const opened = await ada.submit(`${repo}/issues`, {
      title: 'It <is> broken',
      body: 'Here.',
      label: 'bug',
    })
    expect(placeOf(opened, local.url).pathname).toBe(`${repo}/issues/2`)
    await ada.submit(`${repo}/issues/2/label`, { label: 'flightdeck' })
    await ada.submit(`${repo}/issues/2/unlabel`, { label: 'bug' })
    await grace.submit(`${repo}/issues/2/comments`, { body: 'Same here.' })
    expect(await rest(`${repo}/issues/2`)).toMatchObject({ comments: 1, labels: [{ name: 'flightdeck' }] })
    expect((await grace.submit(`${repo}/issues/2/label`, { label: 'bug' })).status).toBe(403)
    expect((await grace.submit(`${repo}/issues/2/close`, {})).status).toBe(403)
    const shown = await pageOf(grace, `${repo}/issues/2`)
    expect(shown).toContain('It &lt;is&gt; broken')
    expect(shown).toContain('Same here.')
    expect(shown).not.toContain('Close issue')
    await ada.submit(`${repo}/issues/2/close`, {})
    expect(await pageOf(ada, `${repo}/issues`)).toContain('None.')
    expect(await pageOf(ada, `${repo}/issues?state=closed`)).toContain('It &lt;is&gt; broken')
  })

  test('the address of a pull request as an issue leads to the pull request', async () => {
    expect(placeOf(await ada.get(`${repo}/issues/1`), local.url).pathname).toBe(pull)
  })

  test('nothing is written where the repository is archived', async () => {
    await askRest(local.api, ['PATCH', `/repos${repo}`], { token, body: { archived: true } })
    expect((await ada.submit(`${repo}/issues`, { title: 'Late', body: '' })).status).toBe(403)
    await askRest(local.api, ['PATCH', `/repos${repo}`], { token, body: { archived: false } })
  })
})
