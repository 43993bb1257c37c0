/** What moves by itself while a page comes. */
import type { Page } from 'playwright'

/** How much of what was seen has moved by itself, as Chromium scores it; since the page's beginning. */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let score = 0
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries())
            if ('value' in entry && typeof entry.value === 'number') score += entry.value
        }).observe({ type: 'layout-shift', buffered: true })
        setTimeout(() => resolve(score), 100)
      }),
  )
}
