/** Signing in: the sign-in screen, the code host's page, and the onboarding. */
import type { Page } from 'playwright'

/** Signs in from the sign-in screen by way of the code host, to the page that the product then opens. */
export async function signInAs(page: Page, name: 'Ada Lovelace' | 'Grace Hopper'): Promise<void> {
  await page.getByRole('button', { name: 'Continue with GitHub' }).click()
  await page.getByRole('link', { name }).click()
}

/** Completes both steps of the onboarding, up to the dashboard. */
export async function completeOnboarding(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('group', { name: 'Team Size' }).getByText('2-5', { exact: true }).click()
  await page.getByRole('group', { name: 'Role' }).getByText('Developer', { exact: true }).click()
  await page.getByRole('button', { name: 'Complete Setup' }).click()
}
