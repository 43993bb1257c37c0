/**
 * From a server without an App to a merged pull request that is cleaned up, in one page that is never reloaded once somebody is signed in: once with
 * webhooks alone, and once with polling alone. Forms of the code host's own pages do what other people do there.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Locator, Page } from 'playwright'
import { describe, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { browserOf, type Browser } from '../../contracts/codeHost.browser.fixture.ts'
import { commit, gitDone, signIn, startLocal, type LocalCodeHost } from '../../contracts/codeHost.fixture.ts'
import { expect } from '../../e2e/expect.ts'
import { recentTask, startCoding } from '../../e2e/pages/dashboard.ts'
import { taskPage } from '../../e2e/pages/task.ts'
import { openStage, type Stage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const scripts = [
  {
    when: /too long a word/,
    turns: [{ tools: [bash('sed -i s/Goodbye/Bye/ README.md')] }, { text: 'It is shorter.' }],
  },
  {
    when: /The check .* ended with failure/,
    turns: [{ tools: [bash('echo fixed >> README.md')] }, { text: 'It is fixed.' }],
  },
  {
    when: /Say goodbye/,
    turns: [{ tools: [bash('echo Goodbye. >> README.md')] }, { text: 'It says goodbye.' }],
  },
  { when: /Count the words/, turns: [{ tools: [bash('wc -w README.md > WORDS')] }, { text: 'Counted.' }] },
]
const within = { timeout: 60_000 }
const payroll = '/acme/payroll'

/** A code host on which nobody knows Flightdeck, with a private repository of acme that grace may push to. */
async function openHost(folder: string): Promise<LocalCodeHost> {
  const earlier = await startLocal(join(folder, 'codehost'))
  const { accessToken } = await signIn(earlier.codeHost, 'ada')
  const asked = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${earlier.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  }
  await asked('POST', '/orgs/acme/repos', { name: 'payroll', private: true })
  await asked('PUT', '/repos/acme/payroll/collaborators/grace', { permission: 'push' })
  const access = await earlier.codeHost.gitAccess(accessToken, { owner: 'acme', name: 'payroll' })
  const tree = join(folder, 'payroll')
  await gitDone(folder, ['clone', '-q', access.url, tree], access)
  await commit(tree, 'main', { 'README.md': '# Payroll\n\nIt pays.\n' })
  await gitDone(tree, ['push', '-q', 'origin', 'main'], access)
  await earlier.stop()
  return startLocal(join(folder, 'codehost'), { app: 'none', takesLoopbackHooks: true })
}

async function done(answering: Promise<Response>): Promise<void> {
  const answer = await answering
  if (answer.status !== 303) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`)
}

/** A comment at the last line of the diff, as its form takes it. */
async function commentOnLine(browser: Browser, pull: string, body: string): Promise<void> {
  const links = [...(await (await browser.get(pull)).text()).matchAll(/href="([^"]*line=\d+)#comment"/g)]
  const form = await (await browser.get((links.at(-1)?.[1] ?? '').replaceAll('&amp;', '&'))).text()
  const fields = [...form.matchAll(/<input\s+type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g)]
  const known = fields.map(([, name = '', value = '']) => [name, value] as [string, string])
  await done(browser.submit(`${pull}/lines`, [...known, ['body', body]]))
}

/** The manifest of a server that GitHub reaches: ours leaves a hook on this machine out, which GitHub refuses and this host is told to take. */
async function withHook(page: Page, stage: Stage): Promise<void> {
  await page.route(/\/settings\/apps\/new/, async (route) => {
    const form = new URLSearchParams(route.request().postData() ?? '')
    const manifest = Manifest.parse(JSON.parse(form.get('manifest') ?? '{}'))
    const hook = { url: `${stage.product.base}/webhooks/github`, active: true }
    form.set('manifest', JSON.stringify({ ...manifest, hook_attributes: hook }))
    await route.continue(
      form.has('manifest') && route.request().method() === 'POST' ? { postData: form.toString() } : {},
    )
  })
}
const Manifest = z.looseObject({})

async function setUp(page: Page, stage: Stage, host: LocalCodeHost, hooks: boolean): Promise<void> {
  // Where the server sends a browser that came by 127.0.0.1.
  const onHost = (path: string) => `${host.url.replace('localhost', '127.0.0.1')}${path}`
  await page.goto(onHost('/login'))
  await page.getByRole('button', { name: 'Sign in as ada' }).click()
  const [, address = ''] =
    /^Connect this server to GitHub: http:\/\/[^/]+(\/\S+)$/m.exec(stage.product.logs.stdout) ?? []
  await page.goto(address)
  await page.getByRole('radio', { name: 'An organization' }).check({ force: true })
  await page.getByLabel('Organization on GitHub').fill('acme')
  await page.getByLabel('Name of the App').fill('Flightdeck of Acme')
  if (hooks) await withHook(page, stage)
  await page.getByRole('button', { name: 'Create on GitHub' }).click()
  await page.getByRole('button', { name: 'Create GitHub App for acme' }).click()
  await expect(page.getByRole('heading', { name: 'Flightdeck is set up' })).toBeVisible()
  await page.goto(onHost('/apps/flightdeck-of-acme/installations/new'))
  await page.getByRole('link', { name: 'Acme acme' }).click()
  await page.getByRole('button', { name: 'Install' }).click()
  await page.goto('/auth')
  await page.getByRole('button', { name: 'Continue with GitHub' }).click()
  await page.getByRole('link', { name: /Ada Lovelace/ }).click()
  await page.getByLabel('Full Name').fill('Ada Lovelace')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('2-5', { exact: true }).click()
  await page.getByText('Developer', { exact: true }).click()
  await page.getByRole('button', { name: 'Complete Setup' }).click()
  await expect(page).toHaveURL(/\/dashboard$/)
}

const link = (page: Page, name: string): Locator => page.getByRole('banner').getByRole('link', { name })

describe.each([
  // So seldom that nothing comes by polling while the test lasts.
  { by: 'webhooks', hooks: true, pollSeconds: '3600' },
  { by: 'polling', hooks: false, pollSeconds: '1' },
])('by $by', ({ hooks, pollSeconds }) => {
  test('an organization goes from nothing to a merged pull request without a reload', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'flightdeck-chain-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const host = await openHost(folder)
    onTestFinished(() => host.stop())
    const stage = await openStage({
      scripts,
      env: {
        CODE_HOST: 'github',
        GITHUB_SERVER_URL: host.url,
        GITHUB_POLL_SECONDS: pollSeconds,
        FEEDBACK_GATHER_SECONDS: '1',
      },
    })
    onTestFinished(() => stage.close())
    const [ada, grace] = [await browserOf(host, 'ada'), await browserOf(host, 'grace')]
    const { page } = await visiting(stage, { reducedMotion: true })
    await setUp(page, stage, host, hooks)
    let loads = 0
    page.on('load', () => (loads += 1))

    await link(page, 'Projects').click()
    await page
      .getByRole('link', { name: /Create (New|Your First) Project/ })
      .first()
      .click()
    await page.getByRole('radio', { name: /acme\/payroll/ }).check({ force: true })
    await page.getByRole('main').getByRole('button', { name: 'Import from GitHub' }).last().click()
    await expect(page.getByText(/Project ".*" created!/)).toBeVisible()

    // A task, and its pull request.
    await startCoding(page, 'Say goodbye')
    await recentTask(page, 'Say goodbye').click()
    const task = taskPage(page)
    await expect(task.status('Completed')).toBeVisible(within)
    await task.openChanges()
    await expect(task.diff).toContainText('+Goodbye.')
    await page.getByRole('button', { name: 'Create PR' }).click()
    await page.getByRole('button', { name: 'Create pull request' }).click()
    await expect(task.header.getByRole('link', { name: 'Pull request #1: Open' })).toBeVisible(within)

    // A review becomes a follow-up, and is answered in its thread.
    const pull = `${payroll}/pull/1`
    await commentOnLine(grace, pull, 'Goodbye is too long a word.')
    const feedback = page.getByRole('region', { name: 'Feedback on the pull request' })
    const review = feedback.getByRole('article').filter({ hasText: 'too long a word' })
    await review.getByRole('button', { name: 'Send to agent' }).click(within)
    await expect(task.chat.getByText('It is shorter.')).toBeVisible(within)
    await expect(review.getByText('Answered on GitHub.')).toBeVisible(within)
    await expect.poll(async () => (await ada.get(pull)).text()).toContain('Written by the agent Claude for ')

    // A failed check is fixed.
    await done(ada.submit(`${pull}/checks`, failedCheck))
    const check = feedback.getByRole('article', { name: 'Check unit tests failed' })
    await check.getByRole('button', { name: 'Fix it' }).click(within)
    await expect(task.chat.getByText('It is fixed.')).toBeVisible(within)
    await expect(check.getByText('From an earlier commit')).toBeVisible(within)

    // An issue with the label becomes a task.
    await link(page, 'Projects').click()
    await page.getByRole('link', { name: 'View Details' }).click()
    await page
      .getByRole('main')
      .getByRole('link', { name: /Settings/ })
      .click()
    const issues = page.getByRole('region', { name: 'Issues', exact: true })
    await issues.getByRole('group', { name: 'Make tasks of issues' }).getByText('On').click()
    await issues.getByRole('button', { name: 'Save Changes' }).click()
    await expect(page.getByText('Settings saved')).toBeVisible()
    await done(ada.submit(`${payroll}/issues`, { title: 'Count the words', body: '', label: '' }))
    await done(ada.submit(`${payroll}/issues/2/label`, { label: 'flightdeck' }))
    await link(page, 'Dashboard').click()
    await expect(recentTask(page, 'Count the words')).toBeVisible(within)

    // The merge shows, and what it left goes.
    await recentTask(page, 'Say goodbye').click()
    await expect(task.header.getByRole('link', { name: 'Pull request #1: Open' })).toBeVisible(within)
    await done(ada.submit(`${pull}/merge`, {}))
    await expect(task.header.getByRole('link', { name: 'Pull request #1: Merged' })).toBeVisible(within)
    await page.getByRole('button', { name: 'Clean up' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clean up' }).click()
    await expect(page.getByText('Branch and workspace are cleaned up.')).toBeVisible(within)
    expect(await (await ada.get(payroll)).text()).not.toContain('flightdeck/say-goodbye')
    expect(loads).toBe(0)
    expect(host.webhooks.list().length > 0).toBe(hooks)
  })
})

const failedCheck = {
  name: 'unit tests',
  conclusion: 'failure',
  log: '##[group]Run npm test\nexpected 1\n##[error]Process completed with exit code 1.\n',
  annotations: '',
}
