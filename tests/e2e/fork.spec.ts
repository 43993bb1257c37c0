/** Creating a task from a turn, and undoing a turn, as a person does it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { openPalette } from './pages/palette.ts'
import { openTask, type TaskPage } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

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
      turns: [
        { tools: [bash('echo two > second.txt && echo more >> first.txt')] },
        { text: 'The second is written.' },
      ],
    },
    { when: /Write another/, turns: [{ tools: [bash('echo 3 > third.txt')] }, { text: 'It is another.' }] },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')

/** Chooses an action of the turn that said this. */
async function choose(task: TaskPage, said: string, action: string): Promise<void> {
  const turn = task.chat.getByRole('article').filter({ hasText: said })
  await turn.hover()
  await turn.getByRole('button', { name: 'Message menu' }).click()
  await turn.page().getByRole('menuitem', { name: action }).click()
}

const filesOf = async (taskId: string) =>
  (await readdir(join(stage.product.dataDir, 'runner', 'tasks', taskId, 'tree'))).filter(
    (name) => name !== '.git',
  )

test('a task goes on from its first turn as another task, and its second turn is undone and brought back', async () => {
  const { page } = await visiting(stage, { as: ada })
  const { id } = await ada.task(project, 'Write the first')
  const task = await openTask(page, id)
  await expect(task.chat).toContainText('The first is written.')
  await expect(task.status('Completed')).toBeVisible()
  await task.send('Write the second')
  await expect(task.chat).toContainText('The second is written.')
  await expect(task.status('Completed')).toBeVisible()

  await choose(task, 'The first is written.', 'New task from here')
  const dialog = page.getByRole('dialog', { name: 'New task from here' })
  await expect(dialog.getByRole('textbox', { name: 'Title' })).toHaveValue('Write the first')
  expect(await violations(page)).toEqual([])
  await dialog.getByRole('textbox', { name: 'Message' }).fill('Write another')
  await dialog.getByRole('textbox', { name: 'Title' }).fill('Another way')
  await dialog.getByRole('button', { name: 'Create task' }).click()
  await expect(page).not.toHaveURL(new RegExp(id))
  const fork = await openTask(page, new URL(page.url()).pathname.split('/').at(-1) ?? '')
  await expect(fork.header).toContainText('Another way')
  await expect(fork.chat).toContainText('It is another.')
  await expect(fork.header).toContainText('Forked from')
  const forkId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
  expect((await filesOf(forkId)).toSorted()).toEqual(['README.md', 'first.txt', 'third.txt'])

  await fork.header.getByRole('link', { name: 'Write the first' }).click()
  await expect(page).toHaveURL(new RegExp(id))
  await choose(task, 'The second is written.', 'Undo this turn')
  const question = page.getByRole('dialog', { name: 'Undo this turn?' })
  await expect(question).toContainText('2 files change')
  await expect(question.getByRole('listitem').filter({ hasText: 'second.txt' })).toContainText('is removed')
  await expect(question.getByRole('listitem').filter({ hasText: 'first.txt' })).toContainText('changes')
  expect(await violations(page)).toEqual([])
  await question.getByRole('button', { name: 'Undo', exact: true }).click()
  await expect(task.toast('Turn undone')).toBeVisible()
  const second = task.chat.getByRole('article').filter({ hasText: 'The second is written.' })
  await expect(second).toContainText('Undone')
  expect((await filesOf(id)).toSorted()).toEqual(['README.md', 'first.txt'])
  await task.openChanges()
  await expect(task.diff).toContainText('first.txt')
  await expect(task.diff).not.toContainText('second.txt')
  expect(await violations(page)).toEqual([])

  await task.chat.getByRole('button', { name: 'Redo' }).click()
  await expect(task.diff).toContainText('second.txt')
  await expect(second).not.toContainText('Undone')
  expect((await filesOf(id)).toSorted()).toEqual(['README.md', 'first.txt', 'second.txt'])

  const palette = await openPalette(page)
  await palette.getByRole('combobox').fill('Undo last')
  await palette.getByRole('option', { name: 'Undo last turn' }).click()
  await expect(question).toContainText('2 files change')
  await question.getByRole('button', { name: 'Cancel' }).click()

  await task.diff.getByRole('button', { name: 'Actions for first.txt' }).click()
  await page.getByRole('menuitem', { name: 'Origin of lines' }).click()
  const origins = page.getByRole('dialog', { name: 'Origin of lines' })
  const lines = origins.getByRole('listitem')
  await expect(lines).toHaveCount(2)
  await expect(lines.first()).toContainText('Write the first')
  await expect(lines.last()).toContainText('Write the second')
  expect(await violations(page)).toEqual([])

  await origins.getByRole('button', { name: 'Close' }).click()
  const line = (text: string) => task.diff.locator('[data-row]').filter({ hasText: text })
  await line('more').locator('[data-origin]').click()
  const origin = page.getByRole('dialog', { name: 'Origin of line 2' })
  await expect(origin).toContainText('Turn 2 · Claude')
  await expect(origin).toContainText('Write the second')
  // Its one shell command is all that can have written it.
  await expect(origin).toContainText('echo two > second.txt')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(origin).toBeHidden()
  await expect(line('more')).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('o')
  const above = page.getByRole('dialog', { name: 'Origin of line 1' })
  await expect(above).toContainText('Turn 1 · Claude')
  await above.getByRole('link', { name: 'Open this moment in History' }).click()
  await expect(page).toHaveURL(/history\?at=\d+$/)
})
