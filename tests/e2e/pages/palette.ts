/** The palette of actions, as a person opens it. */
import type { Locator, Page } from 'playwright'
import { expect } from '../expect.ts'

/** Opens the palette by its key. The page listens for keys only some time after it was drawn. */
export async function openPalette(page: Page): Promise<Locator> {
  const palette = page.getByRole('dialog', { name: 'Search or run a command' })
  await expect(async () => {
    if (!(await palette.isVisible())) await page.keyboard.press('Control+k')
    await expect(palette).toBeVisible({ timeout: 2_000 })
  }).toPass({ timeout: 20_000 })
  return palette
}
