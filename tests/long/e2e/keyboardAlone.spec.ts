/** History, replay, fork, undo, origins, comparison and figures with the keyboard alone: the mouse is never used. */
import type { Locator, Page } from 'playwright'
import { afterAll, describe, test } from 'vitest'
import { expect } from '../../e2e/expect.ts'
import { historyPage } from '../../e2e/pages/history.ts'
import { openPalette } from '../../e2e/pages/palette.ts'
import { openTask } from '../../e2e/pages/task.ts'
import { openStage } from '../../e2e/stage.ts'
import { visiting } from '../../e2e/visiting.ts'

const bash = (command: string) => ({ name: 'Bash', input: { command, description: 'Write' } })
const stage = await openStage({
  repositories: { notes: { 'README.md': '# Notes\n' } },
  scripts: [
    {
      when: /Write the first/,
      turns: [{ tools: [bash('echo one > first.txt')] }, { text: 'The first is written.' }],
    },
    {
      when: /Write the second/,
      turns: [{ tools: [bash('echo two > second.txt')] }, { text: 'The second is written.' }],
    },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')
const { id } = await ada.task(project, 'Write the first')

const mostStops = 120

/** Goes from stop to stop, as somebody without a mouse does, until it has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await expect(wanted).toBeVisible()
  const isThere = () => wanted.evaluate((element) => element === document.activeElement)
  for (let stops = 0; !(await isThere()); stops += 1) {
    if (stops === mostStops) throw new Error(`${mostStops} stops of Tab do not lead to ${String(wanted)}.`)
    await page.keyboard.press('Tab')
  }
}

async function runAction(page: Page, name: string): Promise<void> {
  const palette = await openPalette(page)
  await page.keyboard.type(name)
  await expect(palette.getByRole('option', { name })).toBeVisible()
  await page.keyboard.press('Enter')
}

describe('by the keyboard alone', () => {
  test('the history is read, a moment is replayed, and what is live comes back', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const task = await openTask(page, id)
    await expect(task.status('Completed')).toBeVisible()
    await tabTo(page, task.composer)
    await page.keyboard.type('Write the second')
    await page.keyboard.press('Enter')
    await expect(task.chat).toContainText('The second is written.')
    await expect(task.status('Completed')).toBeVisible()

    await tabTo(page, page.getByRole('tab', { selected: true }).first())
    const history = page.getByRole('tab', { name: 'History' })
    for (let moves = 0; moves < 6 && (await history.getAttribute('aria-selected')) !== 'true'; moves += 1)
      await page.keyboard.press('ArrowRight')
    await expect(history).toHaveAttribute('aria-selected', 'true')
    const past = historyPage(page)
    await expect(past.heads).toHaveCount(2)
    await tabTo(page, past.row(/first\.txt|Write/).first())
    await page.keyboard.press('Enter')
    await expect(past.bar).toBeVisible()
    await tabTo(page, past.slider)
    await page.keyboard.press('End')
    await expect(task.chat).toContainText('The second is written.')
    await page.keyboard.press('Home')
    await expect(task.chat).not.toContainText('The second is written.')
    await page.keyboard.press('Escape')
    await expect(past.bar).toBeHidden()
    await expect(task.chat).toContainText('The second is written.')
  })

  test('a turn is forked, and undone and brought back', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const task = await openTask(page, id)
    await expect(task.chat).toContainText('The second is written.')
    await runAction(page, 'Undo last turn')
    const question = page.getByRole('dialog', { name: 'Undo this turn?' })
    await expect(question).toContainText('second.txt')
    await tabTo(page, question.getByRole('button', { name: 'Undo', exact: true }))
    await page.keyboard.press('Enter')
    await expect(task.toast('Turn undone')).toBeVisible()
    const second = task.chat.getByRole('article').filter({ hasText: 'The second is written.' })
    await expect(second).toContainText('Undone')
    await tabTo(page, task.chat.getByRole('button', { name: 'Redo' }))
    await page.keyboard.press('Enter')
    await expect(second).not.toContainText('Undone')

    await runAction(page, 'New task from last turn')
    const dialog = page.getByRole('dialog', { name: 'New task from here' })
    await tabTo(page, dialog.getByRole('textbox', { name: 'Title' }))
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Another way')
    await tabTo(page, dialog.getByRole('button', { name: 'Create task' }))
    await page.keyboard.press('Enter')
    await expect(page).not.toHaveURL(new RegExp(id))
    await expect(task.header).toContainText('Another way')
  })

  test('a line of the changes tells its origin', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const task = await openTask(page, id)
    await expect(task.status('Completed')).toBeVisible()
    await tabTo(page, page.getByRole('tab', { selected: true }).first())
    const changes = page.getByRole('tab', { name: 'Code Changes' })
    for (let moves = 0; moves < 6 && (await changes.getAttribute('aria-selected')) !== 'true'; moves += 1)
      await page.keyboard.press('ArrowRight')
    const line = task.diff.locator('[data-row]').filter({ hasText: 'one' })
    await expect(line).toBeVisible()
    await tabTo(page, task.diff.locator('[data-row][tabindex="0"]').first())
    const isAtLine = () => line.evaluate((element) => element.contains(document.activeElement))
    for (let moves = 0; moves < 20 && !(await isAtLine()); moves += 1) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('o')
    await expect(page.getByRole('dialog', { name: /Origin of line/ })).toContainText('Write the first')
    await page.keyboard.press('Escape')
  })

  test('a comparison is begun, and the figures are read', async () => {
    const { page } = await visiting(stage, { as: ada, reducedMotion: true })
    const task = await openTask(page, id)
    await expect(task.header).toBeVisible()
    await runAction(page, 'Compare with another run')
    await tabTo(page, page.getByRole('button', { name: 'Add a run' }))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Add a run' })
    await tabTo(page, dialog.getByRole('button', { name: 'Start run' }))
    await page.keyboard.press('Enter')
    await expect(page.getByRole('region', { name: 'Run 2: claude' })).toBeVisible()

    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await expect(page.getByRole('heading', { name: 'Figures', level: 1 })).toBeVisible()
    const byProject = page.getByRole('group', { name: 'Group by' }).getByRole('button', { name: 'Project' })
    await tabTo(page, byProject)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('region', { name: 'Turns by project' })).toContainText('notes')
  })
})
