/** The main job as a person does it: from the sign-in to a merged pull request, with the real `claude` CLI. */
import { join } from 'node:path'
import { gitDone } from '../contracts/codeHost.fixture.ts'
import type { AnyProduct } from '../product.ts'
import { note } from '../report/notes.ts'
import { createGate, type Script } from '../standins/messagesApi.ts'
import { expect } from './expect.ts'
import { recentTask, startCoding } from './pages/dashboard.ts'
import { completeOnboarding, signInAs } from './pages/signIn.ts'
import { taskPage, type TaskPage } from './pages/task.ts'
import type { Stage } from './stage.ts'
import { visiting } from './visiting.ts'

const [firstWord, midSentence] = [createGate(), createGate()]

/** The repositories that the walk needs. */
export const mainJobRepositories = {
  'parcel-tracker': {
    'README.md': '# Parcel tracker\n\nTells where a parcel is.\n',
    'src/greeting.js': "export function greeting(name) {\n  return 'Hello ' + name\n}\n",
  },
}

/** The answers of the model during the walk. */
export const mainJobScripts: readonly Script[] = [
  {
    when: /Greet every person/,
    turns: [
      {
        text: 'I read the greeting first.',
        hold: { afterWords: 0, gate: firstWord },
        tools: [{ name: 'Read', input: { file_path: '/workspace/src/greeting.js' } }],
      },
      {
        text: 'It greets with one word and no more. I change that line now.',
        hold: { afterWords: 5, gate: midSentence },
        tools: [
          {
            name: 'Edit',
            input: {
              file_path: '/workspace/src/greeting.js',
              old_string: "return 'Hello ' + name",
              new_string: 'return `Good morning, ${name}!`',
            },
          },
        ],
      },
      {
        tools: [{ name: 'Bash', input: { command: 'cat src/greeting.js', description: 'Show the file' } }],
      },
      { text: 'Every person is now greeted by name.' },
    ],
  },
  {
    when: /Say it in the README/,
    turns: [
      { tools: [{ name: 'Bash', input: { command: 'echo "It greets you by name." >> README.md' } }] },
      { text: 'The README says so now.' },
    ],
  },
]

/**
 * A person describes a task, watches it live, reads the diff and merges the pull request. Returns what is shown at the end. May be called once per
 * file, because its gates open only once.
 */
export async function walkMainJob(stage: Stage<AnyProduct>): Promise<Shown> {
  const { page, context } = await visiting(stage)
  const task = taskPage(page)

  await page.goto('/')
  await signInAs(page, 'Ada Lovelace')
  await expect(page.getByText('Step 1 of 2')).toBeVisible()
  await expect(page.getByText('Email was fetched from your GitHub account')).toBeVisible()
  await completeOnboarding(page)
  await expect(page).toHaveURL('/dashboard')
  await expect(page.getByText('No tasks yet')).toBeVisible()

  await page.getByRole('link', { name: 'Projects', exact: true }).click()
  await page.getByRole('link', { name: 'Create New Project' }).click()
  await page.getByRole('searchbox', { name: 'Search repositories...' }).fill('parcel')
  await expect(page.getByText(/^Showing 1 of \d+ repositories$/)).toBeVisible()
  await page.getByRole('radio', { name: 'ada/parcel-tracker' }).check()
  await page.locator('form').getByRole('button', { name: 'Import from GitHub' }).click()
  await expect(task.toast('Project "parcel-tracker" created!')).toBeVisible()
  await expect(page).toHaveURL('/dashboard')

  const start = page.getByRole('button', { name: 'Start Coding' })
  await expect(start).toBeDisabled()
  await startCoding(page, 'Greet every person by name\nAs one does in the morning.')
  await expect(task.toast('Task created successfully')).toBeVisible()
  await recentTask(page, 'Greet every person by name').click()

  await expect(task.header.getByRole('heading')).toHaveText('Greet every person by name')
  await firstWord.reached
  await expect(task.status('Running')).toBeVisible()
  await expect(task.chat.getByRole('listitem')).toContainText(['Queued', 'Cloning', 'Setup', 'Agent started'])
  // The repository was already cloned while the task was being described, so no line reports a clone; mirror.test.ts covers the line that does.
  await expect(task.terminal).toContainText('Session opened with')

  firstWord.release()
  await midSentence.reached
  await expect(task.chat.getByRole('button', { name: 'Read src/greeting.js' })).toBeVisible()
  await expect(task.terminal).toContainText('Read src/greeting.js')
  // The model holds back the rest of the sentence, so this text is shown before the rest was written.
  await expect(task.chat).toContainText('It greets with one word')
  await expect(task.chat).not.toContainText('I change that line')

  midSentence.release()
  await expect(task.chat).toContainText('It greets with one word and no more. I change that line now.')
  await expect(task.chat).toContainText('Every person is now greeted by name.')
  await expect(task.status('Completed')).toBeVisible()
  await expect(task.terminal).toContainText('$ cat src/greeting.js')
  await expect(task.terminal).toContainText('return `Good morning, ${name}!`')
  // The row of the command shows its outcome.
  await expect(task.terminal.getByText(/^\d+ lines? · \d+\.\ds/)).toBeVisible()
  const tools = task.chat.getByRole('button', { name: '3 tool calls' })
  await tools.click()
  await expect(task.chat.getByRole('button', { name: 'Edited src/greeting.js' })).toBeVisible()
  await expect(task.chat.getByRole('button', { name: 'Ran cat src/greeting.js' })).toBeVisible()
  await tools.click()

  await task.openChanges()
  await expect(page.getByRole('heading', { name: 'Changed Files (1)' })).toBeVisible()
  await expect(task.diff).toContainText("−  return 'Hello ' + name")
  await expect(task.diff).toContainText('+  return `Good morning, ${name}!`')

  await task.send('Say it in the README')
  await expect(task.chat).toContainText('The README says so now.')
  await expect(task.status('Completed')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Changed Files (2)' })).toBeVisible()
  await expect(task.diff).toContainText('+It greets you by name.')

  const titleAt = await task.header.getByRole('heading').boundingBox()
  await page.getByRole('button', { name: 'Create PR' }).click()
  await page.getByRole('button', { name: 'Create pull request' }).click()
  await expect(task.toast('Pull request created successfully')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Update PR' })).toBeEnabled()
  expect((await task.header.getByRole('heading').boundingBox())?.y).toBe(titleAt?.y)
  await expect(task.chat).toContainText('Pull request #1 created successfully')

  // A second window shows the list; both windows follow the pull request from here on.
  const list = await context.newPage()
  await list.goto('/dashboard')
  await expect(list.getByRole('link', { name: 'Pull request #1: Open' })).toBeVisible()
  await expect(task.header.getByRole('link', { name: 'Pull request #1: Open' })).toBeVisible()

  const opening = context.waitForEvent('page')
  await task.chat.getByRole('link', { name: '/ada/parcel-tracker/pull/1' }).click()
  const host = await opening
  await expect(host.getByRole('heading', { level: 1 })).toContainText('Greet every person by name')
  const changed = host.getByRole('region', { name: 'Changes of src/greeting.js' })
  await expect(changed.getByRole('row', { name: "- return 'Hello ' + name" })).toBeVisible()
  await expect(changed.getByRole('row', { name: '+ return `Good morning, ${name}!`' })).toBeVisible()
  await host.getByRole('button', { name: 'Merge pull request' }).click()
  await expect(host.getByText('Merged by Ada Lovelace')).toBeVisible()
  const merged = performance.now()
  await expect(task.header.getByRole('link', { name: 'Pull request #1: Merged' })).toBeVisible()
  const inHeader = performance.now() - merged
  await expect(list.getByRole('link', { name: 'Pull request #1: Merged' })).toBeVisible()
  note(
    'from the page of a merged pull request to the task page, and to the list in another window',
    `${Math.round(inHeader)} and ${Math.round(performance.now() - merged)} ms`,
  )
  await list.close()
  await expect(page.getByRole('button', { name: 'New PR' })).toBeEnabled()
  expect(await mergedFile(stage, 'src/greeting.js')).toBe(
    'export function greeting(name) {\n  return `Good morning, ${name}!`\n}',
  )

  const before = await whatShows(task)
  await page.reload()
  await expect(task.status('Completed')).toBeVisible()
  await expect.poll(() => whatShows(task)).toEqual(before)
  return before
}

/** All messages, output and changes. */
interface Shown {
  readonly said: readonly string[]
  readonly printed: string
  readonly changes: string
}

async function whatShows(task: TaskPage): Promise<Shown> {
  await task.openChanges()
  await expect(task.diff).toContainText('@@')
  const changes = await task.diff.innerText()
  await task.openTerminal()
  // The lines of the terminal are drawn a frame after its tab is opened.
  await expect.poll(() => task.printed()).not.toBe('')
  return { said: await task.said(), printed: await task.printed(), changes }
}

/** The file on `main` at the code host, read from a clone of our own. */
async function mergedFile(stage: Stage<AnyProduct>, name: string): Promise<string> {
  const clone = join(stage.folder, 'merged.git')
  await gitDone(stage.folder, [
    'clone',
    '--quiet',
    '--bare',
    `${stage.product.codeHostUrl}/ada/parcel-tracker.git`,
    clone,
  ])
  return gitDone(clone, ['show', `main:${name}`])
}
