/** A person at a browser of their own. What goes wrong in the page while they are there is kept, and told when they leave. */
import type { Browser, BrowserContext, ConsoleMessage, Page, Request } from 'playwright'
import type { Person } from '../product/person.ts'
import { patienceMs } from '../patience.ts'

export interface VisitOptions {
  /** Who is signed in already; otherwise nobody is. */
  readonly as?: Person | undefined
  readonly theme?: 'light' | 'dark'
  /** CSS pixels; 1440 x 900 unless told. */
  readonly width?: number
  readonly height?: number
  /** The person asked their system to move nothing. */
  readonly reducedMotion?: boolean
}

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** Every request of all tabs so far. */
  readonly requests: readonly Request[]
  /** Faults that are like this belong to what the test does. */
  expectFault(like: RegExp): void
  /** Closes the browser. Throws when something went wrong that was not expected. */
  leave(): Promise<void>
}

/** What a page meets whose server dies: what it asks for, has asked for or listens to. */
export const serverGone = /socket\.io|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/

/** Opens a browser with no history, at no page yet; paths are of the product at `base`. */
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
    // The page itself breaks off what nobody waits for any more.
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

/** The browser's own word for an answer that is looked at above. */
function isOfApi(message: ConsoleMessage): boolean {
  const { url } = message.location()
  return message.text().startsWith('Failed to load resource') && URL.canParse(url) && isApi(url)
}
