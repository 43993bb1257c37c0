/** Checks that a page fits its width: it does not scroll sideways, and no control is cut off. */
import type { Page } from 'playwright'

/** The elements that do not fit at this width; none when all fit. Elements in a box that scrolls by itself always fit. */
export async function overflowAt(page: Page, width: number): Promise<readonly string[]> {
  await page.setViewportSize({ width, height: 800 })
  let found = await overflow(page)
  // The page measures itself after a frame.
  for (let look = 1; found.length > 0 && look < looks; look += 1) {
    await page.waitForTimeout(lookEveryMs)
    found = await overflow(page)
  }
  return found
}

const looks = 10
const lookEveryMs = 100

function overflow(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    const scrolls = (element: Element): boolean => {
      for (let at = element.parentElement; at !== null; at = at.parentElement) {
        if (['auto', 'scroll'].includes(getComputedStyle(at).overflowX)) return true
      }
      return false
    }
    const cut = [...document.querySelectorAll('a, button, input, textarea, select, [role=tab], h1, h2')]
      .filter((element) => {
        const { left, right, width: own, height } = element.getBoundingClientRect()
        // Elements of at most one pixel are for screen readers only.
        if (own <= 1 || height <= 1) return false
        return (left < -1 || right > clientWidth + 1) && !scrolls(element)
      })
      .map((element) => `${element.tagName} ${element.textContent?.trim().slice(0, 40)} is cut off`)
    return scrollWidth > clientWidth
      ? [`the page is ${scrollWidth} wide in a window of ${clientWidth}`, ...cut]
      : cut
  })
}
