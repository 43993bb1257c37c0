/** Measures what moves by itself while a page loads. */
import type { Page } from 'playwright'

/** How much of the visible content has moved by itself since the page began, as Chromium scores it. */
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
