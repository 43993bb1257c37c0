/** Feedback on a pull request, as a person sees it: with polling alone, and without a reload. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { listProjects } from '#domain/api/projects.schema.ts'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import {
  clientId,
  clientSecret,
  localRepository,
  signIn,
  startLocal,
  temporaryFolder,
  type Folder,
  type LocalCodeHost,
} from '../contracts/codeHost.fixture.ts'
import type { Person } from '../product/person.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openTask } from './pages/task.ts'
import { openStage, type Stage } from './stage.ts'
import { visiting } from './visiting.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const scripts = [
  {
    when: /Say goodbye/,
    turns: [{ tools: [bash('echo Goodbye. >> README.md')] }, { text: 'It says goodbye.' }],
  },
  {
    when: /is too long a word/,
    turns: [{ tools: [bash('sed -i s/Goodbye/Bye/ README.md')] }, { text: 'It is shorter.' }],
  },
  {
    when: /The check .* ended with failure/,
    turns: [{ tools: [bash('echo fixed >> README.md')] }, { text: 'Fixed.' }],
  },
]

let folder: Folder
let local: LocalCodeHost
let stage: Stage
let ada: Person
let taskId = ''
let token = ''
beforeAll(async () => {
  folder = await temporaryFolder()
  await localRepository(join(folder.path, 'engine'), { 'README.md': '# Engine\n\nIt computes.\n' })
  local = await startLocal(join(folder.path, 'host'), { seeds: [{ source: join(folder.path, 'engine') }] })
  stage = await openStage({
    scripts,
    env: {
      GITHUB_SERVER_URL: local.url,
      GITHUB_API_URL: local.api,
      GITHUB_CLIENT_ID: clientId,
      GITHUB_CLIENT_SECRET: clientSecret,
      GITHUB_POLL_SECONDS: '1',
      FEEDBACK_GATHER_SECONDS: '1',
    },
  })
  ada = await stage.product.signIn('ada')
  const { id } = await ada.task(await ada.project('engine'), 'Say goodbye')
  taskId = id
  await ada.taskOnce(id, ({ status }) => status === 'completed')
  await ada.ask(createPullRequest, { params: { taskId }, body: {} })
  token = (await signIn(local.codeHost, 'grace')).accessToken
})
afterAll(async () => {
  await stage?.close()
  await local?.stop()
  await folder?.remove()
})

const pulls = '/repos/ada/engine/pulls/1'
async function atHost(method: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`${local.api}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text
}

describe('feedback', () => {
  test('a review and a failed check come to the page, go to the agent, and the pull request follows', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const { header } = await openTask(page, taskId)
    await atHost('POST', `${pulls}/reviews`, {
      event: 'REQUEST_CHANGES',
      body: 'Please shorten it.',
      comments: [{ path: 'README.md', line: 4, body: '"Goodbye" is too long a word.' }],
    })
    const feedback = page.getByRole('region', { name: 'Feedback on the pull request' })
    const card = feedback.getByRole('article', { name: 'Changes requested: grace' })
    await expect(card.getByText('"Goodbye" is too long a word.')).toBeVisible()
    await expect(card.getByText('README.md:4')).toBeVisible()
    await expect(header.getByText('Changes requested')).toBeAttached()
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 360)).toEqual([])
    await page.setViewportSize({ width: 1_280, height: 800 })

    await card.getByRole('button', { name: 'Dismiss' }).click()
    await feedback.getByRole('button', { name: 'Undo' }).click()
    await card.getByRole('button', { name: 'Edit first' }).click()
    await expect(card.getByRole('textbox', { name: 'The message to the agent' })).toHaveValue(
      /who .* asked for changes/,
    )
    await card.getByRole('button', { name: 'Send to agent' }).click()
    await expect(card.getByText('Answered on GitHub.')).toBeVisible()
    expect(await atHost('GET', `${pulls}/comments`)).toContain('Written by the agent Claude for ada')
    await card.getByRole('button', { name: 'Resolve thread' }).click()
    await expect(card.getByText('Thread resolved')).toBeVisible()

    const { head } = JSON.parse(await atHost('GET', pulls))
    await local.reportCheck('ada', 'engine', {
      name: 'unit tests',
      conclusion: 'failure',
      headSha: String(head.sha),
      log: '##[group]Run npm test\nexpected 1\n##[error]Process completed with exit code 1.\n',
    })
    const check = feedback.getByRole('article', { name: 'Check unit tests failed' })
    await expect(check.getByText('expected 1')).toBeVisible()
    await expect(feedback.getByText('Checks failing: 1 of 1')).toBeVisible()
    expect(await violations(page)).toEqual([])
    await check.getByRole('button', { name: 'Fix it' }).click()
    await expect(page.getByText('Fixed.')).toBeVisible()
    await expect(check.getByText('From an earlier commit')).toBeVisible()

    await feedback.getByRole('button', { name: 'Convert to draft' }).click()
    await expect(header.getByText('Draft')).toBeVisible()
    await feedback.getByRole('button', { name: 'Ready for review' }).click()
    await expect(header.getByText('Open')).toBeVisible()
  })

  test('what is done with it is a rule of the project', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const { projects } = await ada.ask(listProjects)
    await page.goto(`/projects/${projects[0]?.id}/settings`)
    const part = page.getByRole('region', { name: 'Feedback on Pull Requests' })
    await part.getByRole('group', { name: 'Failed checks' }).getByText('Automatic').click()
    await part.getByRole('spinbutton', { name: 'Automatic tries per commit' }).fill('2')
    expect(await violations(page)).toEqual([])
    await part.getByRole('button', { name: 'Save Changes' }).click()
    await expect(page.getByText('Settings saved')).toBeVisible()
    await page.reload()
    await expect(part.getByRole('spinbutton', { name: 'Automatic tries per commit' })).toHaveValue('2')
  })
})

test('an issue that is labelled becomes a task, which leads to it', async () => {
  const { page } = await visiting(stage, { as: ada, reducedMotion: true })
  const { projects } = await ada.ask(listProjects)
  const settings = `/projects/${projects[0]?.id}/settings`
  await page.goto(settings)
  const part = page.getByRole('region', { name: 'Issues', exact: true })
  await part.getByRole('group', { name: 'Make tasks of issues' }).getByText('On').click()
  await part.getByRole('textbox', { name: 'Label' }).fill('robot')
  await part.getByRole('button', { name: 'Save Changes' }).click()
  await expect(page.getByText('Settings saved')).toBeVisible()
  const title = 'Say goodbye to all'
  const { number } = JSON.parse(await atHost('POST', '/repos/ada/engine/issues', { title }))
  token = (await signIn(local.codeHost, 'ada')).accessToken
  await atHost('POST', `/repos/ada/engine/issues/${number}/labels`, { labels: ['robot'] })
  await page.goto('/dashboard')
  await expect(page.getByRole('link', { name: title })).toBeVisible()
  await page.goto(settings)
  const latest = part.getByRole('region', { name: 'Latest issues' })
  await expect(latest.getByText('A task was made. ada set the label.')).toBeVisible()
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 360)).toEqual([])
  await latest.getByRole('link', { name: 'Open task' }).click()
  await expect(page.getByRole('link', { name: `From issue #${number}` })).toHaveAttribute(
    'href',
    `${local.url}/ada/engine/issues/${number}`,
  )
})
