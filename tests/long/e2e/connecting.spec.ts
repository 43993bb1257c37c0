/** Connecting GitHub from the settings: by a person with only a password, and by one who had disconnected. */
import { afterAll, test } from 'vitest'
import { register } from '#domain/api/auth.schema.ts'
import { onboard, type Person } from '../../product/person.ts'
import { expect } from '../../e2e/expect.ts'
import { openStage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'

const stage = await openStage()
afterAll(() => stage.close())

/** A person who has a password and no account at the code host. */
async function registered(name: string): Promise<Person> {
  const body = { name, email: `${name.toLowerCase()}@example.com`, password: 'a password for tests' }
  const { token } = await stage.product.personWith(undefined).ask(register, { body })
  const person = stage.product.personWith(token)
  await onboard(person, name)
  return person
}

test('a person connects an account, lets it go, and connects it again', async () => {
  const { page, requests } = await visiting(stage, { as: await registered('Pat') })
  await page.goto('/settings?tab=github')
  await page.getByRole('button', { name: 'Connect GitHub' }).click()
  await page.getByRole('link', { name: 'Ada Lovelace' }).click()
  await expect(page.getByRole('heading', { name: 'Connected to GitHub' })).toBeVisible()
  await expect(page).toHaveURL('/settings?tab=github')
  await expect(page.getByText('@ada')).toBeVisible()
  // The address and the name in the profile are what they were.
  await page.getByRole('tab', { name: 'Profile' }).click()
  await expect(page.getByLabel('Email Address')).toHaveValue('pat@example.com')

  await page.getByRole('tab', { name: 'GitHub' }).click()
  await page.getByRole('button', { name: 'Disconnect' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await expect(page.getByText('GitHub account disconnected successfully')).toBeVisible()
  await page.getByRole('button', { name: 'Connect GitHub' }).click()
  await page.getByRole('link', { name: 'Ada Lovelace' }).click()
  await expect(page.getByRole('heading', { name: 'Connected to GitHub' })).toBeVisible()
  const referrers = requests.map((request) => request.headers()['referer'] ?? '')
  expect(referrers.filter((referrer) => referrer.includes('link='))).toEqual([])
})

test('a person is told when the account is somebody else’s, and stays who they are', async () => {
  await stage.product.signIn('grace')
  const { page } = await visiting(stage, { as: await registered('Quinn') })
  await page.goto('/settings?tab=github')
  await page.getByRole('button', { name: 'Connect GitHub' }).click()
  await page.getByRole('link', { name: 'Grace Hopper' }).click()
  await expect(page.getByRole('alert')).toHaveText(
    'This GitHub account is linked to another Flightdeck account. Sign in with it, or connect a different one.',
  )
  await expect(page.getByRole('button', { name: 'Connect GitHub' })).toBeEnabled()
  await page.getByRole('tab', { name: 'Profile' }).click()
  await expect(page.getByLabel('Email Address')).toHaveValue('quinn@example.com')
})
