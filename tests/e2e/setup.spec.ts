/**
 * From a server without an App to a private repository of an organization: the App is created by manifest and installed, and the repository is
 * imported.
 */
import { rm } from 'node:fs/promises'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, test } from 'vitest'
import { signIn, startLocal } from '../contracts/codeHost.fixture.ts'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const folder = mkdtempSync(join(tmpdir(), 'flightdeck-setup-'))
await withPrivateRepository()
const host = await startLocal(join(folder, 'codehost'), { app: 'none' })
const stage = await openStage({ env: { CODE_HOST: 'github', GITHUB_SERVER_URL: host.url } })
afterAll(async () => {
  await stage.close()
  await host.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Of acme, made by an App that is gone when the test begins. */
async function withPrivateRepository(): Promise<void> {
  const earlier = await startLocal(join(folder, 'codehost'))
  const { accessToken } = await signIn(earlier.codeHost, 'ada')
  const made = await fetch(`${earlier.api}/orgs/acme/repos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}` },
    body: JSON.stringify({ name: 'payroll', private: true }),
  })
  if (made.status !== 201) throw new Error(await made.text())
  await earlier.stop()
}

const onHost = (path: string) => `${host.url.replace('localhost', '127.0.0.1')}${path}`
const address = () => {
  const [, path = ''] =
    /^Connect this server to GitHub: http:\/\/[^/]+(\/\S+)$/m.exec(stage.product.logs.stdout) ?? []
  return path
}

describe('the set-up', () => {
  test('is closed to whoever has not the code, and shows so on the way to sign in', async () => {
    const { page } = await visiting(stage)
    await page.goto('/auth')
    await page.getByRole('button', { name: 'Continue with GitHub' }).click()
    await expect(page).toHaveURL(/\/setup$/)
    await expect(page.getByText('Only whoever runs this server can set it up.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Create on GitHub' })).toHaveCount(0)
  })

  test.each([
    { theme: 'light', width: 1440 },
    { theme: 'dark', width: 375 },
  ] as const)('can be read and used: $theme, $width px', async ({ theme, width }) => {
    const { page } = await visiting(stage, { theme, width, reducedMotion: true })
    await page.goto(address())
    await expect(page.getByRole('heading', { name: 'Connect Flightdeck to GitHub' })).toBeVisible()
    // The code is for nobody who looks over a shoulder, and in no history.
    await expect(page).toHaveURL(/\/setup$/)
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, width)).toEqual([])
  })

  test('leads from nothing to a project of a private repository of an organization', async () => {
    const { page, expectFault } = await visiting(stage)
    await page.goto(onHost('/login'))
    await page.getByRole('button', { name: 'Sign in as ada' }).click()

    await page.goto(address())
    // By keyboard alone.
    await page.getByRole('radio', { name: 'My account' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByLabel('Organization on GitHub').fill('acme')
    await page.getByLabel('Name of the App').fill('Flightdeck of Acme')
    await page.getByLabel('Name of the App').press('Enter')

    host.limits.disturb({ status: 503, message: 'Away.', times: 1, of: /conversions/ })
    await page.getByRole('button', { name: 'Create GitHub App for acme' }).click()
    const late = page.getByRole('alert')
    await expect(late).toContainText('GitHub could not be reached.')
    await expect(late).toContainText('remove the unfinished App Flightdeck of Acme at GitHub')
    await late.getByRole('link', { name: 'Try again' }).click()
    await expect(page.getByRole('heading', { name: 'Flightdeck is set up' })).toBeVisible()
    const install = page.getByRole('link', { name: 'Install the App' })
    expect(await install.getAttribute('href')).toBe(`${host.url}/apps/flightdeck-of-acme/installations/new`)

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

    await page.goto('/projects/new')
    await page.getByRole('radio', { name: /acme\/payroll/ }).check({ force: true })
    await page.getByRole('main').getByRole('button', { name: 'Import from GitHub' }).last().click()
    await expect(page.getByText(/Project ".*" created!/)).toBeVisible()

    // Whoever comes back from installing it is told where it is; a number that is not theirs is refused.
    await page.goto('/settings?tab=github')
    const installations = page.getByRole('region', { name: 'Installations' })
    await expect(installations).toContainText('All repositories (2)')
    const configure = installations.getByRole('link', { name: 'Configure the installation for acme' })
    const id = /(\d+)$/.exec((await configure.getAttribute('href')) ?? '')?.[1] ?? ''
    const comesBack = (number: string) =>
      page.goto(`/api/auth/github/callback?setup_action=install&installation_id=${number}`)
    expectFault(/422/)
    await comesBack(`${id}0`)
    await expect(page.getByRole('alert')).toContainText('GitHub App installation callback failed.')
    await expect(installations).toContainText('All repositories (2)')
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 360)).toEqual([])
    await comesBack(id)
    await expect(page.getByText('The App is installed for acme')).toBeVisible()
    await expect(page).toHaveURL(/\/settings\?tab=github$/)
  })

  test('is over for good', async () => {
    const { page } = await visiting(stage)
    await page.goto(address())
    await expect(page.getByRole('heading', { name: 'Flightdeck is set up' })).toBeVisible()
    await expect(page.getByRole('link', { name: 'Install the App' })).toHaveCount(0)
    await expect(page.getByRole('button', { name: 'Create on GitHub' })).toHaveCount(0)
  })
})
