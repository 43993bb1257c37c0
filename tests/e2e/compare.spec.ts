/** Comparing: the same task runs again, both are shown side by side, and the better one becomes the pull request. */
import { afterAll, describe, test } from 'vitest'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Do it' } })
const stage = await openStage({
  repositories: { handbook: { 'README.md': '# Handbook\n\nHow we work.\n' } },
  scripts: [
    {
      when: /Write it short/,
      turns: [{ tools: [bash('echo Short. >> README.md')] }, { text: 'Shortened.' }],
    },
    {
      when: /Write it/,
      turns: [
        { tools: [bash('printf "One.\\nTwo.\\n" >> README.md; echo new > notes.md')] },
        { tools: [bash('npm test --silent')] },
        { text: 'Written.' },
      ],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const handbook = await ada.project('handbook')
const { id: task } = await ada.task(handbook, 'Write it down')

describe('a comparison', () => {
  test('adds a run with another message, shows both, and keeps one as the pull request', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    await openTask(page, task)
    await expect(page.getByText('Written.')).toBeVisible()
    await page.getByRole('button', { name: 'Task actions' }).click()
    await page.getByRole('menuitem', { name: 'Compare with another run' }).click()
    await expect(page.getByText('Nothing to compare with yet')).toBeVisible()

    await page.getByRole('button', { name: 'Add a run' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a run' })
    const agent = dialog.getByRole('combobox', { name: 'Agent: Claude' })
    const list = dialog.getByRole('listbox', { name: 'Agent' })
    await agent.click()
    await expect(list).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(list).toBeHidden()
    await agent.click()
    await dialog.getByRole('option', { name: 'Claude', exact: true }).click()
    await dialog.getByRole('textbox', { name: 'Message' }).fill('Write it short')
    expect(await violations(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Start run' }).click()

    const original = page.getByRole('region', { name: 'Original: claude' })
    const other = page.getByRole('region', { name: 'Run 2: claude' })
    await expect(other.getByText('Completed')).toBeVisible()
    await expect(original.getByText('1 run, last failed')).toBeVisible()
    await expect(other.getByText('None run')).toBeVisible()
    await expect(other.getByText('Write it short')).toBeVisible()
    await expect(other.getByText('README.md', { exact: true })).toBeVisible()
    await expect(other.getByText('notes.md')).toHaveCount(0)
    await original.getByText('notes.md', { exact: true }).click()
    await expect(original.getByText('+new')).toBeVisible()
    expect(await violations(page)).toEqual([])

    await other.getByRole('button', { name: 'Keep this one' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create pull request' }).click()
    await expect(other.getByRole('link', { name: /Open pull request #/ })).toBeVisible()
    await expect(original.getByRole('button', { name: 'Keep this one' })).toBeVisible()
  })

  test.each(['light', 'dark'] as const)('fits a phone, in the %s theme', async (colorScheme) => {
    const { page } = await visiting(stage, {
      as: ada,
      reducedMotion: true,
      width: 390,
      height: 844,
      theme: colorScheme,
    })
    await page.goto(`/tasks/${task}/compare`)
    await expect(page.getByRole('region', { name: 'Run 2: claude' })).toBeVisible()
    expect(await violations(page)).toEqual([])
    expect(await overflowAt(page, 390)).toEqual([])
    await page.setViewportSize({ width: 390, height: 400 })
    await page.mouse.wheel(0, 2_000)
    await expect.poll(() => page.evaluate(() => window.scrollY)).toBeGreaterThan(0)
  })

  test('of a task that is not there says so', async () => {
    const { page, expectFault } = await visiting(stage, { as: ada, reducedMotion: true })
    expectFault(/404/)
    await page.goto('/tasks/0199c6c2-7777-7000-8000-00000000dead/compare')
    await expect(page.getByRole('heading', { name: 'Task not found' })).toBeVisible()
  })
})
