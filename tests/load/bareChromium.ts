/**
 * Chromium without an inspector, like a person's browser. Playwright attaches one: V8 then records where each error was created, and parses the
 * scripts of libraries again on the page's own thread, even for errors that are only created once in advance. At a quarter of the speed, that takes
 * more than a tenth of a second of a start.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import { chromiumArguments, chromiumPath } from '../e2e/chromium.ts'
import { within } from '../product/live.ts'
import { cleanEnvironment } from '../product.ts'
import type { Scene } from './row.ts'

type Params = Readonly<Record<string, unknown>>
const Answer = z.object({
  id: z.number(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ message: z.string() }).optional(),
})
type Answer = z.infer<typeof Answer>
const Painted = z.object({ result: z.object({ value: z.number() }) })

const viewport = { width: 1440, height: 900 }
const answerWithinMs = 30_000
/** A page without a request for this many milliseconds has come to rest. */
const restMs = 1_000

/** A browser without a cache, which measures when a page was painted. */
export interface BareChromium {
  /**
   * When the largest content was painted after navigating to an address, in milliseconds since the navigation began; nothing is cached. `slowed` is
   * how many times slower the page's thread is, and `before` a script that runs before the page's own.
   */
  largestPaint(
    address: string,
    options: { readonly slowed: number; readonly before: string },
  ): Promise<number>
}

/** A script that runs in a page before the page's own scripts. */
const watching = `
  globalThis.largestPaint = new Promise((resolve) => {
    let largest = 0
    new PerformanceObserver((list) => (largest = list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true })
    const look = () => {
      const ends = performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd)
      if (largest > 0 && performance.now() - Math.max(largest, ...ends) > ${restMs}) resolve(largest)
      else setTimeout(look, ${restMs / 4})
    }
    setTimeout(look, ${restMs})
  })`

export function openBareChromium(scene: Scene): BareChromium {
  const call = openProtocol(scene)
  return {
    async largestPaint(address, { slowed, before }) {
      const { browserContextId } = await call('Target.createBrowserContext')
      const page = await call('Target.createTarget', { ...viewport, url: 'about:blank', browserContextId })
      const { sessionId } = await call('Target.attachToTarget', { targetId: page['targetId'], flatten: true })
      const at = String(sessionId)
      await call('Emulation.setCPUThrottlingRate', { rate: slowed }, at)
      await call('Page.enable', {}, at)
      await call('Page.addScriptToEvaluateOnNewDocument', { source: `${before};${watching}` }, at)
      await call('Page.navigate', { url: address }, at)
      const found = await call('Runtime.evaluate', { expression: 'largestPaint', awaitPromise: true }, at)
      await call('Target.disposeBrowserContext', { browserContextId })
      return Painted.parse(found).result.value
    },
  }
}

/** Starts the browser and calls methods of the DevTools protocol through a pipe, for the browser or an attached page. */
function openProtocol({ folder, atEnd }: Scene) {
  const own = ['--headless', '--remote-debugging-pipe', `--user-data-dir=${join(folder, 'bare')}`]
  const child = spawn(chromiumPath('person'), [...chromiumArguments, ...own, 'about:blank'], {
    // The browser reads requests from its descriptor 3, and writes answers to 4.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: cleanEnvironment(folder),
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  atEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [, , , asked, answers] = child.stdio
  if (!(asked instanceof Writable) || !(answers instanceof Readable)) throw new Error('There is no pipe.')
  const waiting = new Map<number, (answer: Answer) => void>()
  let rest = ''
  answers.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = `${rest}${chunk}`.split('\0')
    rest = messages.pop() ?? ''
    for (const message of messages) {
      const answer = Answer.safeParse(JSON.parse(message))
      if (answer.success) waiting.get(answer.data.id)?.(answer.data)
    }
  })
  let last = 0
  return async (method: string, params: Params = {}, sessionId?: string): Promise<Params> => {
    const id = (last += 1)
    const coming = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    asked.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const { result = {}, error } = await within(answerWithinMs, `No answer to ${method}`, coming)
    waiting.delete(id)
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
}
