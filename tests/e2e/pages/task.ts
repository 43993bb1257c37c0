/** The page of one task, by what a person calls its parts. */
import type { Locator, Page } from 'playwright'

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
}

export function taskPage(page: Page): TaskPage {
  const chat = page.getByRole('region', { name: 'Task Chat' })
  const composer = chat.getByRole('textbox', { name: 'Message' })
  const header = page.getByRole('region', { name: 'Task', exact: true })
  return {
    header,
    chat,
    terminal: page.getByRole('log', { name: 'Terminal' }),
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
  }
}
