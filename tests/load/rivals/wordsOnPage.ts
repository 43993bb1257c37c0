/** When the words of the stamping model appear on a page, whatever product the page is of. */
import type { Page } from 'playwright'
import { stampsIn } from '../stampingModel.ts'

/** A script that runs in each page before the page's own, and remembers when each word was first in its text. */
export const watchWords = `
  globalThis.wordsSeen = new Map()
  const look = () => {
    const now = performance.timeOrigin + performance.now()
    for (const [word] of (document.body?.textContent ?? '').matchAll(/@\\d{12}@/g))
      if (!wordsSeen.has(word)) wordsSeen.set(word, now)
  }
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true })`

export interface SeenWord {
  /** When the model said the word, and when it was on the page, in milliseconds since 1970. */
  readonly saidAt: number
  readonly seenAt: number
}

const withinMs = 60_000

/** The words that the model said after `from`, once there are `count` of them on the page. */
export async function wordsSince(page: Page, from: number, count: number): Promise<readonly SeenWord[]> {
  const until = Date.now() + withinMs
  for (;;) {
    const found: unknown = await page.evaluate('[...(globalThis.wordsSeen ?? [])]')
    const words = (Array.isArray(found) ? found : []).flatMap((entry: unknown) => {
      const [word, seenAt] = Array.isArray(entry) ? entry : []
      return stampsIn(String(word)).map((said) => ({
        saidAt: performance.timeOrigin + said,
        seenAt: Number(seenAt),
      }))
    })
    const since = words.filter(({ saidAt }) => saidAt > from).toSorted((a, b) => a.saidAt - b.saidAt)
    if (since.length >= count) return since
    if (Date.now() > until) throw new Error(`${since.length} of ${count} words were on the page.`)
    await page.waitForTimeout(50)
  }
}
