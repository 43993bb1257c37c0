/** The first five minutes of a person without an account, a repository or a key, who presses only what the product suggests. */
import { afterAll, test } from 'vitest'
import { expect } from '../../e2e/expect.ts'
import { completeOnboarding, signInAs } from '../../e2e/pages/signIn.ts'
import { taskPage } from '../../e2e/pages/task.ts'
import { openStage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'

const stage = await openStage({ keyless: true })
afterAll(() => stage.close())

/**
 * The time limit for a turn of the built-in model, which looks at files, writes one and checks it: some twenty steps of a CLI, on two cores shared
 * with others.
 */
const wholeTurnMs = 90_000

test('somebody new gets from the sign-in to a first pull request, and on to their own, by what is suggested', async () => {
  const { page } = await visiting(stage)
  const next = page.getByRole('region', { name: 'Next step' })
  /** There is one thing to do next, and no second. */
  const isNext = async (title: string) => {
    await expect(next.getByRole('heading')).toHaveText(title)
    await expect(next).toHaveCount(1)
  }
  await page.goto('/')
  await signInAs(page, 'Ada Lovelace')
  await completeOnboarding(page)
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByText('No tasks yet')).toBeVisible()
  await expect(page.getByRole('complementary', { name: 'About this server' })).toContainText(
    'No model key is set',
  )

  await isNext('Start with a project')
  await next.getByRole('button', { name: 'Add Sample Project' }).click()
  await isNext('Give an agent its first task')
  await next.getByRole('button', { name: /^Support days/ }).click()
  await page.getByRole('button', { name: 'Start Coding' }).click()
  await isNext('Follow your first task')
  await next.getByRole('link', { name: 'Open Task' }).click()

  const task = taskPage(page)
  await expect(task.status('Completed')).toBeVisible({ timeout: wholeTurnMs })
  await page.getByRole('link', { name: 'Back to Dashboard' }).click()
  await isNext('Create your first pull request')
  await next.getByRole('link', { name: 'Review Changes' }).click()
  await expect(task.diff).toContainText('FLIGHTDECK.md')
  await page.getByRole('button', { name: 'Create PR' }).click()
  await page.getByRole('button', { name: 'Create pull request' }).click()
  await expect(task.toast('Pull request created successfully')).toBeVisible()
  await page.getByRole('link', { name: 'Back to Dashboard' }).click()

  await isNext('Now try your own repository')
  await next.getByRole('link', { name: 'Use Your Own Repository' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'GitHub Integration' })).toBeVisible()
})

test('who has put the steps away finds their way by what is empty', async () => {
  const { page } = await visiting(stage, { as: await stage.product.signIn('grace') })
  await page.goto('/dashboard')
  await page.getByRole('button', { name: 'Hide next steps' }).click()
  await page.getByRole('link', { name: 'Create Your First Project' }).click()
  await page.getByRole('button', { name: 'Create New Repository' }).click()
  await page.getByRole('textbox', { name: 'Repository Name' }).fill('first')
  await page.getByRole('button', { name: 'Create & Import from GitHub' }).click()
  await expect(page).toHaveURL('/dashboard')

  await page.getByRole('link', { name: 'Projects', exact: true }).click()
  await page.getByRole('link', { name: 'View Details' }).click()
  await page.getByRole('link', { name: 'Create First Task' }).click()
  await expect(page.getByRole('textbox', { name: 'Task description' })).toBeFocused()
  await page.keyboard.type('Say what this is')
  await expect(page.getByRole('button', { name: 'Start Coding' })).toBeEnabled()
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('link', { name: 'Say what this is' })).toBeVisible()
})
