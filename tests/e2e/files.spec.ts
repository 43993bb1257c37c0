/** The files of a task: browsed, searched, read, linked to and saved, with the keyboard and on a phone. */
import { readFile } from 'node:fs/promises'
import { afterAll, test } from 'vitest'
import { violations } from './axe.ts'
import { expect } from './expect.ts'
import { overflowAt } from './overflow.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const lines = Array.from({ length: 300 }, (_, n) => `export const value${n + 1} = ${n + 1}`).join('\n')
const stage = await openStage({
  repositories: {
    notes: { 'README.md': '# Notes\n', 'src/deep/values.ts': `${lines}\n`, 'src/a.md': 'A.\n' },
  },
  scripts: [
    {
      when: /Add/,
      turns: [
        { tools: [{ name: 'Bash', input: { command: 'echo Fresh. > added.md; ln -s /etc/passwd away' } }] },
        { text: 'Added.' },
      ],
    },
    { turns: [{ text: 'Fine.' }] },
  ],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')
const begun = await ada.task(project, 'Begin')
await ada.taskOnce(begun.id, ({ status }) => status === 'completed')

test('a person browses with the keyboard, sees what the agent adds, and saves a file', async () => {
  const { page } = await visiting(stage, { as: ada, theme: 'dark' })
  const task = await openTask(page, begun.id)
  await page.getByRole('tab', { name: 'Files' }).click()
  const tree = page.getByRole('tree', { name: 'Files' })
  await expect(tree.getByRole('treeitem')).toHaveCount(2)
  await expect(page.getByText('Files of the workspace, as they are now')).toBeVisible()
  await tree.getByRole('treeitem', { name: 'src' }).focus()
  await page.keyboard.press('ArrowRight')
  await tree.getByRole('treeitem', { name: 'deep' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await tree.getByRole('treeitem', { name: /^values.ts/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const content = page.getByRole('region', { name: 'Content of src/deep/values.ts' })
  await expect(content).toContainText('export const value1 = 1')
  expect(await violations(page)).toEqual([])

  await task.send('Add a file')
  const added = tree.getByRole('treeitem', { name: /^added.md/ })
  await added.click()
  await expect(page.getByRole('region', { name: 'Content of added.md' })).toContainText('Fresh.')
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toBe('added.md')
  expect(await readFile(await saved.path(), 'utf8')).toBe('Fresh.\n')
  await tree.getByRole('treeitem', { name: /^away/ }).click()
  await expect(page.getByText('Symbolic link to /etc/passwd. It is not followed.')).toBeVisible()

  await task.composer.fill('See ')
  await task.composer.pressSequentially('@adde')
  const list = page.getByRole('listbox', { name: 'Files and subagents' })
  await expect(list.getByRole('option')).toHaveText([/added.md/])
})

test('a link opens a file at a line; on a phone the file takes the place of the tree', async () => {
  const { page } = await visiting(stage, { as: ada, width: 375, height: 812 })
  await page.goto(`/tasks/${begun.id}?file=src/deep/values.ts&line=200`)
  const content = page.getByRole('region', { name: 'Content of src/deep/values.ts' })
  await expect(content.locator('[aria-current=location]')).toContainText('export const value200 = 200')
  await expect(content.getByText('value200')).toBeInViewport()
  expect(await overflowAt(page, 375)).toEqual([])
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Back to files' }).click()
  await expect(page.getByRole('treeitem', { name: /^README.md/ })).toBeVisible()
  expect(await violations(page)).toEqual([])
  await page.getByRole('button', { name: 'Search files' }).click()
  const box = page.getByRole('combobox', { name: 'Search files' })
  await box.pressSequentially('a.md')
  await expect(page.getByRole('option')).toHaveText(['src/a.md'])
  expect(await overflowAt(page, 375)).toEqual([])
  await box.press('Enter')
  await expect(page.getByRole('region', { name: 'Content of src/a.md' })).toContainText('A.')
  await expect(page).toHaveURL(/file=src%2Fa\.md/)
})

test('a replay does not offer them', async () => {
  const { page } = await visiting(stage, { as: ada })
  await page.goto(`/tasks/${begun.id}/history`)
  await expect(page.getByRole('tab', { name: 'Files' })).toBeVisible()
  await page.goto(`/tasks/${begun.id}/history?at=t1`)
  await expect(page.getByRole('tab', { name: 'History' })).toBeVisible()
  await expect(page.getByRole('tab', { name: 'Files' })).toBeHidden()
})
