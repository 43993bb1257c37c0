/** The dashboard, on which tasks are created. */
import type { Locator, Page } from 'playwright'

/** Chooses an option in the picker with this label. */
export async function pick(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: `${label}:` }).click()
  await page.getByRole('option', { name: option }).click()
}

/** Writes the description and starts the task, which is then the first of the recent tasks. */
export async function startCoding(page: Page, description: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Task description' }).fill(description)
  await page.getByRole('button', { name: 'Start Coding' }).click()
}

export function recentTask(page: Page, title: string): Locator {
  return page.getByRole('region', { name: 'Recent Tasks' }).getByRole('link', { name: title })
}
