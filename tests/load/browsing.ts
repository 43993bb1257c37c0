/** Measurements inside of a page of Chromium, and the tabs for them. Times are in milliseconds. */
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright'
import { openChromium } from '../e2e/chromium.ts'
import type { Scene } from './row.ts'

const actionMs = 30_000

export async function openBrowser(scene: Scene): Promise<Browser> {
  const browser = await openChromium(scene.folder, 'person')
  scene.atEnd(() => browser.close())
  return browser
}

export interface Tab {
  readonly page: Page
  readonly devtools: CDPSession
  close(): Promise<void>
}

/** A browser without a history and without a page so far; with a token, that person is signed in at `base`. */
export async function openTab(browser: Browser, base?: string, token?: string): Promise<Tab> {
  const context: BrowserContext = await browser.newContext({
    ...(base === undefined ? {} : { baseURL: base }),
    viewport: { width: 1440, height: 900 },
    storageState: {
      cookies: [],
      origins:
        base === undefined || token === undefined
          ? []
          : [{ origin: base, localStorage: [{ name: 'authToken', value: token }] }],
    },
  })
  context.setDefaultTimeout(actionMs)
  // The compiler of the bench calls this function to name functions, also in code that is sent to the page.
  await context.addInitScript('globalThis.__name = (named) => named')
  const page = await context.newPage()
  return { page, devtools: await context.newCDPSession(page), close: () => context.close() }
}

/** A page that has only this body. */
export async function plainPage(browser: Browser, body: string): Promise<Tab> {
  const tab = await openTab(browser)
  await tab.page.setContent(`<!doctype html><style>div{font:12.5px/20px monospace}</style>${body}`)
  return tab
}

/** The lines of a terminal as plain elements. */
export const plainLines = (count: number): string =>
  Array.from({ length: count }, (_, line) => `<div>Compiled module ${line} in 0.3 s.</div>`).join('')

/** The longest time between two frames while a box is scrolled from its end to its beginning in this many steps. */
export function longestFrameScrolling(page: Page, selector: string, steps: number): Promise<number> {
  return page.locator(selector).evaluate(
    (box, count) =>
      new Promise<number>((resolve) => {
        const whole = box.scrollHeight
        let step = 0
        let longest = 0
        let last = performance.now()
        const next = (now: number) => {
          longest = Math.max(longest, now - last)
          last = now
          step += 1
          box.scrollTop = whole * (1 - step / count)
          if (step < count) requestAnimationFrame(next)
          else resolve(longest)
        }
        requestAnimationFrame((now) => {
          last = now
          requestAnimationFrame(next)
        })
      }),
    steps,
  )
}

/** The times from each key to the paint that follows it, while a text is typed. */
export async function typingTimes(page: Page, text: string, everyMs: number): Promise<readonly number[]> {
  await page.evaluate(() => {
    const times: number[] = []
    Object.assign(window, { typed: times })
    window.addEventListener(
      'keydown',
      (event) => {
        // When this runs, the next frame has been painted.
        requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - event.timeStamp)))
      },
      { capture: true },
    )
  })
  await page.keyboard.type(text, { delay: everyMs })
  await page.waitForTimeout(200)
  return page.evaluate(() =>
    'typed' in window && Array.isArray(window.typed) ? window.typed.map(Number) : [],
  )
}

/** The JavaScript heap in use after a garbage collection, in MB of 10^6 bytes. */
export async function heapOf({ devtools }: Tab): Promise<number> {
  await devtools.send('Performance.enable')
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 1_000_000
}

/** When an element with this text is first on the page, in the page's own time, beginning with the next frame. */
export function whenSeen(page: Page, selector: string, text: string): Promise<number> {
  return page.evaluate(
    ([where, words]) =>
      new Promise<number>((resolve) => {
        const look = () => {
          const found = [...document.querySelectorAll(where ?? '')].some((element) =>
            element.textContent?.includes(words ?? ''),
          )
          if (found) resolve(performance.now())
          else requestAnimationFrame(look)
        }
        look()
      }),
    [selector, text] as const,
  )
}
