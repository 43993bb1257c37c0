/** The page of one task, with the names that a person gives its parts. */
import type { Locator, Page } from 'playwright'
import { expect } from '../expect.ts'

export interface TaskPage {
  /** The header with the title, the status, Cancel and the pull request. */
  readonly header: Locator
  readonly chat: Locator
  readonly terminal: Locator
  /** The lines of the diff; shown after `openChanges`. */
  readonly diff: Locator
  /** The box for the next message. */
  readonly composer: Locator
  /** The indicator of the live connection. */
  readonly pill: Locator
  /** The task's status in the header, if it is this word. */
  status(word: string): Locator
  send(text: string): Promise<void>
  openChanges(): Promise<void>
  openTerminal(): Promise<void>
  /** A notification with this title. */
  toast(title: string): Locator
  /** The texts of all entries of the chat, without their ages, which change. */
  said(): Promise<readonly string[]>
  /** The text of the terminal, with its times. */
  printed(): Promise<string>
}

export function taskPage(page: Page): TaskPage {
  const chat = page.getByRole('region', { name: 'Task Chat' })
  const composer = chat.getByRole('textbox', { name: 'Message' })
  const header = page.getByRole('region', { name: 'Task', exact: true })
  const terminal = page.getByRole('log', { name: 'Terminal' })
  return {
    header,
    chat,
    terminal,
    diff: page.getByRole('region', { name: 'Changes', exact: true }),
    composer,
    pill: page.getByRole('banner').getByRole('status'),
    // The header has two elements for the status: one for narrow windows and one for wide ones.
    status: (word) => header.getByText(word, { exact: true }).filter({ visible: true }),
    async send(text) {
      await composer.fill(text)
      await composer.press('Enter')
    },
    openChanges: () => page.getByRole('tab', { name: 'Code Changes' }).click(),
    openTerminal: () => page.getByRole('tab', { name: 'Terminal' }).click(),
    toast: (title) => page.getByRole('list', { name: 'Notifications' }).getByText(title),
    async said() {
      const entries = await chat.getByRole('article').allInnerTexts()
      return entries.map((entry) => entry.replace(/Just now|\d+m ago/, ''))
    },
    printed: () => terminal.innerText(),
  }
}

/** Opens the page of a task and waits until it is loaded. */
export async function openTask(page: Page, taskId: string): Promise<TaskPage> {
  await page.goto(`/tasks/${taskId}`)
  const task = taskPage(page)
  await expect(task.header).toBeVisible()
  return task
}
