/** The history of a task and its replay, with the names that a person gives their parts. */
import type { Locator, Page } from 'playwright'

export interface HistoryPage {
  readonly panel: Locator
  open(): Promise<void>
  /** The row of the timeline with this text. */
  row(words: string | RegExp): Locator
  /** The heads of the turns and commands. */
  readonly heads: Locator
  filter(name: string): Promise<void>
  /** The bar that says that the page shows the past. */
  readonly bar: Locator
  readonly slider: Locator
  button(name: string): Locator
}

export function historyPage(page: Page): HistoryPage {
  const panel = page.getByRole('tabpanel', { name: 'History' })
  const bar = page.getByRole('region', { name: 'Replay', exact: true })
  return {
    panel,
    open: () => page.getByRole('tab', { name: 'History' }).click(),
    row: (words) =>
      panel
        .getByRole('button')
        .filter({ has: page.locator('time') })
        .filter({ hasText: words }),
    heads: panel.getByRole('heading', { level: 2 }),
    filter: (name) =>
      panel.getByRole('group', { name: 'Show', exact: true }).getByRole('button', { name }).click(),
    bar,
    slider: page.getByRole('slider', { name: 'Position in the task' }),
    button: (name) => page.getByRole('button', { name, exact: true }),
  }
}
