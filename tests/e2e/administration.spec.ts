/** The page of figures and, for administrators, the audit log and the App's rights. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { createPullRequest } from '#domain/api/tasks.schema.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'
import { hasEnded } from '../server/scene.ts'

const stage = await openStage({
  repositories: { handbook: { 'README.md': '# Handbook\n' } },
  scripts: [
    {
      when: /Write it down/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: 'echo "Said in full." >> README.md' } }] },
        { text: 'Written.' },
      ],
    },
  ],
  env: { ALLOWED_USERS: '*', ADMINS: 'ada' },
  codeHost: 'github',
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const grace = await stage.product.signIn('grace')
const projectId = await ada.project('handbook')
let taskId: string
beforeAll(async () => {
  const task = await ada.task(projectId, 'Write it down')
  taskId = task.id
  await ada.taskOnce(taskId, hasEnded)
  await ada.ask(createPullRequest, { params: { taskId }, body: { title: 'Written down', body: '' } })
})

const phone = { width: 375, height: 812 }
async function downloaded(page: Page, press: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return readFile(await download.path(), 'utf8')
}

describe('the figures', () => {
  test('are charts with their tables, by week and by what is chosen', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/dashboard')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Figures' }).click()
    await expect(page.getByRole('heading', { name: 'Figures', level: 1 })).toBeVisible()
    for (const name of ['Turns', 'Time per turn', 'Tokens', 'Cost'])
      await expect(
        page.getByRole('region', { name, exact: true }).getByRole('img', { name: `${name} by week` }),
      ).toBeVisible()
    await expect(page.getByText('Cost per merged pull request', { exact: true })).toBeVisible()
    const turns = page.getByRole('region', { name: 'Turns by week' })
    await expect(turns.getByRole('row')).toHaveCount(13)
    await expect(turns.getByRole('row').nth(1).getByRole('cell')).toHaveText(['1', '1', '0', '0', '100%'])
    await expect(page.locator('svg[role=img] rect title').first()).toHaveText(
      /^Week of \w+ \d+: Completed 1$/,
    )
    expect(await violations(page)).toEqual([])

    await page.getByRole('group', { name: 'Group by' }).getByRole('button', { name: 'Project' }).click()
    const byProject = page.getByRole('region', { name: 'Turns by project' })
    await expect(byProject.getByRole('rowheader')).toHaveText(['handbook'])
    await expect(page).toHaveURL(/by=project/)
    expect(await violations(page)).toEqual([])
    await page.reload()
    await expect(byProject.getByRole('rowheader')).toHaveText(['handbook'])

    const csv = await downloaded(page, () => page.getByRole('button', { name: 'Download CSV' }).click())
    expect(csv).toMatch(/^\uFEFFproject,name,tasks,turns,/)
    expect(csv).toContain(`${projectId},handbook,1,1,`)
    expect(await overflowAt(page, 320)).toEqual([])
  })

  test('are those of everybody for administrators, by person too', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/figures')
    await page.getByRole('group', { name: 'Whose tasks' }).getByRole('button', { name: 'Everybody' }).click()
    await expect(page.getByText('This look is noted in the audit log.')).toBeVisible()
    await page.getByRole('group', { name: 'Group by' }).getByRole('button', { name: 'Person' }).click()
    await expect(page.getByRole('region', { name: 'Cost by person' }).getByRole('rowheader')).toHaveText([
      'Ada Lovelace',
    ])
    await page.getByRole('group', { name: 'Group by' }).getByRole('button', { name: 'Payer' }).click()
    await expect(page.getByRole('region', { name: 'Cost by payer' }).getByRole('rowheader')).toHaveText([
      'This server',
    ])
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 320)).toEqual([])
    const hers = await visiting(stage, { as: grace, reducedMotion: true })
    await hers.page.goto('/figures')
    await expect(hers.page.getByRole('heading', { name: 'Nothing in this period' })).toBeVisible()
    await expect(hers.page.getByRole('group', { name: 'Whose tasks' })).toBeHidden()
    expect(await violations(hers.page)).toEqual([])
  })

  test('say why they do not come, and come when they are asked for again', async () => {
    const { page, context, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
    expectFault(/figures|ERR_INTERNET_DISCONNECTED|ERR_FAILED/)
    await page.route('**/api/figures?*', (route) => route.abort())
    await page.goto('/figures')
    await expect(page.getByRole('alert')).toContainText('Failed to fetch the figures')
    expect(await violations(page)).toEqual([])
    await page.unroute('**/api/figures?*')
    await page.getByRole('button', { name: 'Try Again' }).click()
    await expect(page.getByRole('img', { name: 'Turns by week' })).toBeVisible()
    // What is on the screen stays.
    await context.setOffline(true)
    await page.getByRole('button', { name: '4 weeks' }).click()
    await expect(page.getByRole('alert')).toBeVisible()
    await expect(page.getByRole('img', { name: 'Turns by week' })).toBeVisible()
    await context.setOffline(false)
  })

  test('fit a phone, and are in its menu', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true, ...phone })
    await page.goto('/dashboard')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Figures' }).click()
    await expect(page.getByRole('img', { name: 'Turns by week' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 375)).toEqual([])
  })
})

describe('the audit log', () => {
  test('is reached from the settings, filtered by who and what, and exported', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/settings')
    await page.getByRole('link', { name: 'Open Audit Log' }).click()
    await expect(page.getByRole('heading', { name: 'Audit log', level: 1 })).toBeVisible()
    const table = page.getByRole('table', { name: 'Entries' })
    await expect(table.getByRole('row', { name: /Ada Lovelace Read the audit log/ }).first()).toBeVisible()
    expect(await violations(page)).toEqual([])
    await table.getByRole('button', { name: 'Grace Hopper' }).first().click()
    await expect(page.getByLabel('Person')).not.toHaveValue('')
    await expect(table.getByRole('button', { name: 'Ada Lovelace' })).toHaveCount(0)
    await expect(table.getByText('Signed in')).toBeVisible()

    await page.getByRole('button', { name: 'Clear Filters' }).click()
    await page.getByLabel('Task').fill(`${stage.product.base}/tasks/${taskId}`)
    await page.keyboard.press('Enter')
    await expect(page.getByLabel('Task')).toHaveValue(taskId)
    await expect(table.getByText('Created a task')).toBeVisible()
    await expect(table.getByText('Asked for a pull request')).toBeVisible()
    await expect(table.getByText('Signed in')).toHaveCount(0)
    const ndjson = await downloaded(page, () => page.getByRole('button', { name: 'Export NDJSON' }).click())
    const lines = ndjson
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.at(-1)).toEqual({ kind: 'end', count: lines.length - 2 })

    await page.getByRole('button', { name: 'Clear Filters' }).click()
    await page.getByLabel('Person').fill('ada')
    await page.keyboard.press('Tab')
    await expect(page.getByText('This is not an id.')).toBeVisible()
    await page.getByLabel('Person').fill('')
    await page.getByLabel('To').fill('2020-01-31')
    await expect(page.getByRole('heading', { name: 'No entry matches' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 320)).toEqual([])
  })

  test('fits a phone', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true, ...phone })
    await page.goto('/admin/audit')
    await expect(page.getByText('Created a task').first()).toBeVisible()
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 375)).toEqual([])
  })

  test('is not for anybody else', async () => {
    const { page, requests } = await visiting(stage, { as: grace, reducedMotion: true })
    await page.goto('/settings')
    await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()
    await expect(page.getByRole('link', { name: 'Open Audit Log' })).toHaveCount(0)
    await page.goto('/admin/audit')
    await expect(page.getByText('Only the administrators of this server see its audit log.')).toBeVisible()
    expect(requests.filter((request) => request.url().includes('/api/admin/'))).toEqual([])
    expect(await violations(page)).toEqual([])
  })
})

describe('the rights of the App', () => {
  test('are reached from the settings, with installations, limits and what came of deliveries', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await page.goto('/settings')
    await page.getByRole('link', { name: 'Open GitHub Rights' }).click()
    await expect(page.getByRole('heading', { name: 'GitHub Rights', level: 1 })).toBeVisible()
    const table = (name: string) => page.getByRole('table', { name })
    await expect(
      table('Permissions').getByRole('row', { name: /^contents write write Everywhere$/ }),
    ).toBeVisible()
    await expect(table('Installations').getByRole('row', { name: /^ada All \(\d+\) Complete/ })).toBeVisible()
    await expect(table('Requests Left').getByRole('row', { name: /^You, as ada / })).toBeVisible()
    // Of the pull request that was opened.
    const opened = table('Last Deliveries').getByRole('row', {
      name: /pull_request\.opened Delivered Handled$/,
    })
    await expect(opened).toBeVisible()
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 360)).toEqual([])
  })

  test('are not for anybody else', async () => {
    const { page, requests } = await visiting(stage, { as: grace, reducedMotion: true })
    await page.goto('/admin/github')
    await expect(
      page.getByText('Only the administrators of this server see the rights of its App.'),
    ).toBeVisible()
    expect(requests.filter((request) => request.url().includes('/api/admin/'))).toEqual([])
  })
})
