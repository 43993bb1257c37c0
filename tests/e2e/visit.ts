/** A person at a browser of their own. Faults in the page during the visit are collected, and reported when the person leaves. */
import type { Browser, BrowserContext, ConsoleMessage, Page, Request } from 'playwright'
import type { Person } from '../product/person.ts'
import { patienceMs } from '../patience.ts'

export interface VisitOptions {
  /** The person who is signed in; nobody by default. */
  readonly as?: Person | undefined
  readonly theme?: 'light' | 'dark'
  /** The width of the window in CSS pixels; the default window is 1440 x 900. */
  readonly width?: number
  readonly height?: number
  /** The person has set their system to reduce motion. */
  readonly reducedMotion?: boolean
}

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** Every request of all tabs so far. */
  readonly requests: readonly Request[]
  /** Declares that faults matching this are caused by the test itself. */
  expectFault(like: RegExp): void
  /** Closes the browser. Throws when there was a fault that was not expected. */
  leave(): Promise<void>
}

/** The faults of a page whose server dies: of requests, and of the live connection. */
export const serverGone = /socket\.io|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/

/** Opens a browser without a history, and without a page so far; paths are relative to the product at `base`. */
export async function openVisit(
  browser: Browser,
  base: string,
  { as, theme = 'light', width = 1440, height = 900, reducedMotion = false }: VisitOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: base,
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: reducedMotion ? 'reduce' : 'no-preference',
    locale: 'en-US',
    storageState: {
      cookies: [],
      origins:
        as === undefined ? [] : [{ origin: base, localStorage: [{ name: 'authToken', value: as.token }] }],
    },
  })
  context.setDefaultTimeout(patienceMs)
  const requests: Request[] = []
  const faults: string[] = []
  const expected: RegExp[] = []

  context.on('request', (request) => requests.push(request))
  context.on('weberror', (fault) => faults.push(`error in the page: ${fault.error().stack}`))
  context.on('console', (message) => {
    if (message.type() === 'error' && !isOfApi(message)) {
      faults.push(`console: ${message.text()} (${message.location().url})`)
    }
  })
  context.on('response', (response) => {
    if (isApi(response.url()) && response.status() >= 400)
      faults.push(`${response.request().method()} ${response.url()} answered ${response.status()}`)
  })
  context.on('requestfailed', (request) => {
    const why = request.failure()?.errorText ?? ''
    // The page itself aborts requests whose answer nobody waits for any more.
    if (isApi(request.url()) && why !== 'net::ERR_ABORTED')
      faults.push(`${request.method()} ${request.url()} failed: ${why}`)
  })

  return {
    context,
    page: await context.newPage(),
    requests,
    expectFault: (like) => void expected.push(like),
    async leave() {
      await context.close()
      const unexpected = faults.filter((fault) => !expected.some((like) => like.test(fault)))
      if (unexpected.length > 0) throw new Error(`Went wrong in the page:\n${unexpected.join('\n')}`)
    },
  }
}

export function isApi(address: string): boolean {
  return new URL(address).pathname.startsWith('/api/')
}

/** Whether it is the browser's own message about an answer that was checked above. */
function isOfApi(message: ConsoleMessage): boolean {
  const { url } = message.location()
  return message.text().startsWith('Failed to load resource') && URL.canParse(url) && isApi(url)
}
