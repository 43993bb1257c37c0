/** Commands and mentions: offered while a message is written, chosen with the keyboard, used by the real agent. */
import { afterAll, test } from 'vitest'
import { expect } from './expect.ts'
import { violations } from './axe.ts'
import { overflowAt } from './overflow.ts'
import { openTask } from './pages/task.ts'
import { openStage } from './stage.ts'
import { visiting } from './visiting.ts'

const stage = await openStage({
  repositories: {
    notes: {
      'README.md': '# Notes\n',
      'docs/reading list.md': 'Much.\n',
      'docs/plans.md': 'Some.\n',
      '.claude/skills/greet/SKILL.md':
        '---\nname: greet\ndescription: Greets people warmly\n---\nSay hello to $ARGUMENTS.',
      '.claude/commands/status.md': '---\ndescription: Tells how it stands\n---\nSay how $ARGUMENTS stands.',
      '.claude/agents/checker.md': '---\nname: checker\ndescription: Checks the work\n---\nYou check.',
    },
  },
  scripts: [{ turns: [{ text: 'Fine.' }] }],
})
afterAll(() => stage.close())
const ada = await stage.product.signIn('ada')
const project = await ada.project('notes')
const asked = () => JSON.stringify(stage.model.requests.map(({ body }) => body))

test('a person writes instructions and a command in the settings', async () => {
  const { page } = await visiting(stage, { as: ada })
  await page.goto('/settings')
  await page
    .getByRole('textbox', { name: 'Instructions', exact: true })
    .fill('The person likes short answers.')
  await page.getByRole('button', { name: 'Add Command' }).click()
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('tidy')
  await page.getByRole('textbox', { name: 'Description' }).fill('Tidies the notes')
  await page.getByRole('textbox', { name: 'What the agent is told' }).fill('Tidy $ARGUMENTS for me.')
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 375)).toEqual([])
  await page.getByRole('button', { name: 'Save Instructions' }).click()
  await expect(page.getByText('Instructions saved')).toBeVisible()
  await page.reload()
  await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toHaveValue('tidy')
})

test('a task begins with a command of its repository, chosen with the keyboard', async () => {
  const { page } = await visiting(stage, { as: ada })
  await page.goto('/dashboard')
  const box = page.getByRole('textbox', { name: 'Task description' })
  await box.fill('/')
  const list = page.getByRole('listbox', { name: "The agent's commands" })
  await expect(list.getByRole('option')).toContainText([/^\/greet/, /^\/status/, /^\/tidy/, /^\/init/])
  expect(await violations(page)).toEqual([])
  await box.pressSequentially('st')
  await expect(list.getByRole('option')).toHaveCount(1)
  await box.press('Enter')
  await expect(box).toHaveValue('/status ')
  await expect(list).toBeHidden()
  await box.pressSequentially('of the notes')
  await page.getByRole('button', { name: 'Start Coding' }).click()
  await expect.poll(asked).toContain('Say how of the notes stands.')
  await expect.poll(asked).toContain('The person likes short answers.')
})

test('a message mentions a subagent and files, and uses a command of the person', async () => {
  const { page } = await visiting(stage, { as: ada, width: 375, height: 812 })
  const { id } = await ada.task(project, 'Begin')
  await ada.taskOnce(id, ({ status }) => status === 'completed')
  const task = await openTask(page, id)
  const { composer } = task
  await composer.focus()
  await composer.pressSequentially('Let @che')
  const list = page.getByRole('listbox', { name: 'Files and subagents' })
  await expect(list.getByRole('option')).toContainText([/^@checker/])
  await composer.press('Tab')
  await expect(composer).toHaveValue('Let @agent-checker ')
  await composer.pressSequentially('see @read')
  await expect(list.getByRole('option')).toHaveText([/README.md/, /reading list.md/])
  expect(await violations(page)).toEqual([])
  expect(await overflowAt(page, 375)).toEqual([])
  await composer.press('Escape')
  await expect(list).toBeHidden()
  await composer.press('i')
  await expect(list.getByRole('option')).toHaveText([/reading list.md/])
  await list.getByRole('option').click()
  await expect(composer).toHaveValue('Let @agent-checker see @"docs/reading list.md" ')
  await composer.press('Enter')
  await expect.poll(asked).toContain('desire to invoke the agent \\"checker\\"')
  await expect.poll(asked).toContain('Much.')

  await task.send('/tidy the plans')
  await expect.poll(asked).toContain('Tidy the plans for me.')
})
