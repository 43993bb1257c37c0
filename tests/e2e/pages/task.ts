/** The page of one task, by what a person calls its parts. */
import type { Locator, Page } from 'playwright'
import { expect } from '../expect.ts'

export interface TaskPage {
  /** Title, status, Cancel and the pull request. */
  readonly header: Locator
  readonly chat: Locator
  readonly terminal: Locator
  /** The lines of the diff; shown after `openChanges`. */
  readonly diff: Locator
  /** Where the next message is written. */
  readonly composer: Locator
  /** How live the page is. */
  readonly pill: Locator
  /** The task's status in the header, when it is this word. */
  status(word: string): Locator
  send(text: string): Promise<void>
  openChanges(): Promise<void>
  openTerminal(): Promise<void>
  /** A notification, by its title. */
  toast(title: string): Locator
  /** Every entry of the chat, without its age: that goes on. */
  said(): Promise<readonly string[]>
  /** What the terminal shows, with its times. */
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
    // There are two, for narrow windows and for wide ones.
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

/** Goes to a task and waits until it is there. */
export async function openTask(page: Page, taskId: string): Promise<TaskPage> {
  await page.goto(`/tasks/${taskId}`)
  const task = taskPage(page)
  await expect(task.header).toBeVisible()
  return task
}
