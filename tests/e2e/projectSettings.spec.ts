/** What a person sets for a project is stored and shown again, except the value of a secret. */
import { afterAll, test } from 'vitest'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const stage = await openStage({ repositories: { handbook: { 'README.md': '# Handbook\n' } } })
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const projectId = await ada.project('handbook')

test('setup, variables, secrets and hosts are set on one page, and are there the next time', async () => {
  const { page, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
  expectFault(/PUT \S+\/settings answered 400/)
  await page.goto(`/projects/${projectId}`)
  await page.getByRole('link', { name: 'Project Settings' }).click()
  const part = (name: string) => page.getByRole('region', { name })
  const save = async (name: string) => {
    await part(name).getByRole('button', { name: 'Save Changes' }).click()
    await expect(part(name).getByRole('button', { name: 'Save Changes' })).toBeDisabled()
  }
  await page.getByLabel('Setup command').fill('npm ci\nnpm run build')
  await save('Setup')
  const variables = part('Environment Variables')
  await variables.getByRole('button', { name: 'Add Variable' }).click()
  await variables.getByLabel('Name').fill('HOME')
  await variables.getByLabel('Value').fill('staging')
  await variables.getByRole('button', { name: 'Save Changes' }).click()
  await expect(variables.getByText('This name is reserved')).toBeVisible()
  await variables.getByLabel('Name').fill('PATH')
  await variables.getByRole('button', { name: 'Save Changes' }).click()
  await expect(variables.getByText('This entry is not one: "staging".')).toBeVisible()
  await variables.getByLabel('Name').fill('STAGE')
  await save('Environment Variables')
  const secrets = part('Secrets')
  await secrets.getByLabel('Name').fill('DEPLOY_TOKEN')
  await secrets.getByLabel('Value').fill('a value that nobody reads again')
  await secrets.getByLabel('Allow the agent to use it').check()
  await secrets.getByRole('button', { name: 'Set Secret' }).click()
  await expect(secrets.getByText('DEPLOY_TOKEN')).toBeVisible()
  await page.getByLabel('Allowed hosts').fill('packages.example\n*.mirror.example:8443')
  await page.getByLabel('Allow web access through the model provider').check()
  await save('Network')

  await page.reload()
  await expect(page.getByLabel('Setup command')).toHaveValue('npm ci\nnpm run build')
  await expect(variables.getByLabel('Name')).toHaveValue('STAGE')
  await expect(page.getByLabel('Allowed hosts')).toHaveValue('packages.example\n*.mirror.example:8443')
  await expect(page.getByLabel('Allow web access through the model provider')).toBeChecked()
  await expect(secrets.getByText('Agent access')).toBeVisible()
  expect(await page.content()).not.toContain('a value that nobody reads again')
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 320)).toEqual([])

  await secrets.getByRole('button', { name: 'Remove DEPLOY_TOKEN' }).click()
  await page.getByRole('button', { name: 'Remove Secret' }).click()
  await expect(secrets.getByText('No secrets yet.')).toBeVisible()
})
