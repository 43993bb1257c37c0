/** What a person waits for in the client, in Chromium: compared with a plain page that does the same, or else with the goal. */
import { createServer } from 'node:http'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright'
import { executeTask } from '#domain/api/tasks.schema.ts'
import type { Person } from '../../product/person.ts'
import { connectLive } from '../../product/live.ts'
import { startProduct } from '../../product.ts'
import { wordCame } from './firstLine.ts'
import { layoutShift } from '../../e2e/layoutShift.ts'
import { openBareChromium } from '../bareChromium.ts'
import {
  heapOf,
  longestFrameScrolling,
  openBrowser,
  openTab,
  plainLines,
  plainPage,
  typingTimes,
  whenSeen,
} from '../browsing.ts'
import type { Line, Row, Scene } from '../row.ts'
import { withoutLimits } from '../seededProduct.ts'
import { median, percentile } from '../statistics.ts'
import { asking, stampsIn, startStampingModel } from '../stampingModel.ts'

const rounds = 5
const followUps = 7
const linesScrolled = 50_000
/** The number of lines of a file; ten of them are changed. */
const linesChanged = 1_000
const typed = 'Also cover the receiver that answers 500 twice, please.'
const aim = (figure: number) => ({ name: 'the aim', figure })

export const web: Row = {
  name: 'web',
  onlyByName: true,
  remark:
    'A key: to the end of the frame that shows it. Scrolling: the longest time between two frames of a scroll over all lines.',
  async measure(scene) {
    const browser = await openBrowser(scene)
    const seeded = await openSeeded(scene)
    return [
      await firstPaint(scene, seeded),
      ...(await longTask(browser, seeded)),
      ...(await slowNetwork(browser, seeded)),
      ...(await atWork(scene, browser)),
    ]
  },
}

interface Place {
  readonly base: string
  readonly token: string
  readonly taskId: string
}

async function openSeeded(scene: Scene): Promise<Place> {
  const { dataDir, token, longTaskId } = await scene.seeded()
  const product = await startProduct({ dataDir, env: withoutLimits })
  scene.atEnd(() => product.stop())
  return { base: product.base, token, taskId: longTaskId }
}

/** The dashboard on a cold cache, with a processor of a quarter of the speed. */
async function firstPaint(scene: Scene, { base, token }: Place): Promise<Line> {
  const plain = await servePage(
    scene,
    '<!doctype html><title>Plain</title><h1>Dashboard</h1><p>Nothing else.</p>',
  )
  const chromium = openBareChromium(scene)
  const slowed = 4
  const signIn = `localStorage.setItem('authToken', ${JSON.stringify(token)})`
  const figures: number[] = []
  const floors: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await chromium.largestPaint(plain, { slowed, before: '' }))
    figures.push(await chromium.largestPaint(`${base}/dashboard`, { slowed, before: signIn }))
  }
  return {
    name: 'dashboard, largest paint: nothing cached, processor slowed 4 times',
    unit: 'ms',
    figure: median(figures),
    floor: { name: 'plain page of one paragraph', figure: median(floors) },
  }
}

async function longTask(browser: Browser, { base, token, taskId }: Place): Promise<readonly Line[]> {
  const tab = await openTab(browser, base, token)
  const { page } = tab
  await page.goto('/dashboard')
  await page.waitForLoadState('networkidle')
  const before = await heapOf(tab)
  const opened: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await page.goto(`/tasks/${taskId}`)
    const seen = await whenSeen(page, '[role=log]', 'Compiled 14 modules')
    opened.push(seen)
  }
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  const heap = await heapOf(tab)

  const earlier = page.getByRole('button', { name: 'Show earlier output' })
  const log = page.getByRole('log', { name: 'Terminal' })
  for (let lines = 5_000; lines < linesScrolled; lines += 5_000) {
    await log.evaluate((box) => (box.scrollTop = 0))
    await earlier.click()
    const count = (lines + 5_000).toLocaleString('en')
    await page.getByText(`The latest ${count} lines`).waitFor()
  }
  const scrolled = await longestFrameScrolling(page, '[role=log]', 400)
  const whole = await heapOf(tab)
  await tab.close()

  const plain = await plainPage(
    browser,
    `<main style="height:800px;overflow:auto">${plainLines(linesScrolled)}</main>`,
  )
  const plainScrolled = await longestFrameScrolling(plain.page, 'main', 400)
  await plain.close()
  return [
    {
      name: 'task of 100,000 events, from its address to its lines',
      unit: 'ms',
      figure: median(opened),
      floor: aim(1_000),
    },
    { name: 'its heap', unit: 'MB', figure: heap, floor: { name: 'the dashboard', figure: before } },
    {
      name: 'a frame while 50,000 lines of terminal are scrolled, longest',
      unit: 'ms',
      figure: scrolled,
      floor: { name: 'a plain list of as many', figure: plainScrolled },
    },
    { name: 'heap with 50,000 lines', unit: 'MB', figure: whole, floor: aim(150) },
  ]
}

/** From the dashboard into a task, over a network as slow as 3G. */
async function slowNetwork(browser: Browser, { base, token, taskId }: Place): Promise<readonly Line[]> {
  const tab = await openTab(browser, base, token)
  const { page, devtools } = tab
  await page.goto(`/tasks/${taskId}`)
  await whenSeen(page, '[role=log]', 'Compiled 14 modules')
  await page.goto('/dashboard')
  const link = page
    .getByRole('main')
    .getByRole('link', { name: /^Make widget/ })
    .first()
  await link.waitFor()
  await page.waitForLoadState('networkidle')
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 400,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  })
  // As a hand does it: first pointed at, then pressed.
  await link.hover()
  await page.waitForTimeout(100)
  const clicked = await page.evaluate(() => performance.now())
  const skeleton = whenSeen(page, '[role=status]', 'Loading task')
  await link.evaluate((element) => {
    if (element instanceof HTMLElement) element.click()
  })
  const seen = await skeleton
  await page.getByRole('textbox', { name: 'Message' }).waitFor()
  await page.waitForTimeout(2_000)
  const shift = await layoutShift(page)
  await tab.close()
  return [
    {
      name: 'from a click to the skeleton of a task, slow 3G',
      unit: 'ms',
      figure: seen - clicked,
      floor: aim(200),
    },
    {
      name: 'layout shift until it is there, in hundredths',
      unit: 'ms',
      figure: shift * 100,
      floor: aim(10),
    },
  ]
}

/** Measures an agent and commands at work while somebody watches. */
async function atWork(scene: Scene, browser: Browser): Promise<readonly Line[]> {
  const model = await startStampingModel()
  scene.atEnd(() => model.close())
  const product = await startProduct({
    dataDir: await mkdtemp(join(scene.folder, 'data-')),
    env: { ANTHROPIC_API_KEY: 'sk-ant-bench', ANTHROPIC_BASE_URL: model.baseUrl, ...withoutLimits },
  })
  scene.atEnd(() => product.stop())
  const ada = await product.signIn('ada')
  const { id } = await ada.task(await ada.project('sample'), asking({ words: 1, everyMs: 0 }))
  await ada.taskOnce(id, ({ status }) => status === 'completed')
  const place = { base: product.base, token: ada.token, taskId: id }
  return [
    ...(await wordsToPage(browser, place, ada)),
    ...(await typing(browser, place, ada)),
    ...(await largeDiff(browser, place, ada)),
  ]
}

/** Measures the time of each word from the model to the page, and from a message to the first word. All times are from clocks of this machine. */
async function wordsToPage(
  browser: Browser,
  { base, token, taskId }: Place,
  ada: Person,
): Promise<readonly Line[]> {
  const tab = await openTab(browser, base, token)
  const { page } = tab
  await page.goto(`/tasks/${taskId}`)
  const composer = page.getByRole('textbox', { name: 'Message' })
  await composer.waitFor()
  await page.evaluate(() => {
    const seen = new Map<string, number>()
    const drawn = new Map<string, number>()
    Object.assign(window, { seen, drawn })
    const now = () => performance.timeOrigin + performance.now()
    const look = () => {
      const text = document.querySelector('section[aria-label="Task Chat"]')?.textContent ?? ''
      const fresh = [...text.matchAll(/@\d{12}@/g)].flatMap(([word]) => (seen.has(word) ? [] : [word]))
      for (const word of fresh) seen.set(word, now())
      if (fresh.length === 0) return
      // A timer that is set in a frame's callbacks runs after the layout and paint of that frame.
      requestAnimationFrame(() => setTimeout(() => fresh.forEach((word) => drawn.set(word, now()))))
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
  })
  /** The words on the page with the time of each, once there are this many. */
  const wordsOf = async (
    times: 'seen' | 'drawn',
    count: number,
  ): Promise<readonly (readonly [string, number])[]> => {
    const timesOf = ([name, least]: readonly ['seen' | 'drawn', number]) => {
      const found: unknown = Reflect.get(window, name)
      return found instanceof Map && found.size >= least
        ? [...found].map(([word, at]) => [String(word), Number(at)] as const)
        : null
    }
    const handle = await page.waitForFunction(timesOf, [times, count] as const, { timeout: 60_000 })
    return (await handle.jsonValue()) ?? []
  }
  const words = 200
  const known = (await wordsOf('seen', 0)).length
  const asked = performance.now()
  await composer.fill(asking({ words, everyMs: 20 }))
  await composer.press('Enter')
  const delays = async (times: 'seen' | 'drawn') =>
    (await wordsOf(times, known + words)).flatMap(([word, at]) =>
      stampsIn(word)
        // Words of earlier answers are in the chat as well.
        .filter((said) => said > asked)
        .map((said) => at - (performance.timeOrigin + said)),
    )
  const seen = await delays('seen')
  const drawn = await delays('drawn')

  const live = await connectLive(base, token)
  await live.join(taskId)
  const atPage: number[] = []
  const atSocket: number[] = []
  for (let turn = 0; turn < followUps; turn += 1) {
    await ada.taskOnce(taskId, ({ status }) => status === 'completed')
    const before = (await wordsOf('seen', 0)).length
    const heard = live.heard.length
    await composer.fill(asking({ words: 3, everyMs: 0 }))
    const pressed = performance.timeOrigin + performance.now()
    await composer.press('Enter')
    const [, at = NaN] = (await wordsOf('seen', before + 1))[before] ?? []
    const first = live.heard.slice(heard).find(wordCame)
    atPage.push(at - pressed)
    atSocket.push(performance.timeOrigin + (first?.at ?? NaN) - pressed)
  }
  live.close()
  await tab.close()
  const frame = { name: 'a frame of the screen', figure: 1_000 / 60 }
  return [
    ...[50, 99].map((p) => ({
      name: `model to page, a word every 20 ms, p${p} of ${seen.length}`,
      unit: 'ms' as const,
      figure: percentile(seen, p / 100),
      floor: frame,
    })),
    {
      name: 'model to the end of the frame that shows it, a word every 20 ms, p50',
      unit: 'ms',
      figure: percentile(drawn, 0.5),
      floor: frame,
    },
    {
      name: 'Enter to the first word on the page, agent waiting',
      unit: 'ms',
      figure: median(atPage),
      floor: { name: 'the same word at a socket', figure: median(atSocket) },
    },
  ]
}

/** Measures keys in the composer while a command prints 200 lines a second. */
async function typing(
  browser: Browser,
  { base, token, taskId }: Place,
  ada: Person,
): Promise<readonly Line[]> {
  const tab = await openTab(browser, base, token)
  const { page } = tab
  await page.goto(`/tasks/${taskId}`)
  const composer = page.getByRole('textbox', { name: 'Message' })
  await composer.waitFor()
  const command =
    'for i in $(seq 1 2400); do echo "line $i of the build, in which nothing happens"; sleep 0.005; done'
  await ada.ask(executeTask, { params: { taskId }, body: { command } })
  await whenSeen(page, '[role=log]', 'line 100 of')
  await composer.focus()
  const times = await typingTimes(page, typed, 60)
  await whenSeen(page, '[role=log]', 'line 2400 of')
  await tab.close()
  const plain = await plainPage(browser, '<textarea autofocus rows=3></textarea>')
  await plain.page.locator('textarea').focus()
  const plainTimes = await typingTimes(plain.page, typed, 60)
  await plain.close()
  return [50, 99].map((p) => ({
    name: `a key in the composer while output comes at 200 lines a second, p${p}`,
    unit: 'ms' as const,
    figure: percentile(times, p / 100),
    floor: { name: 'a plain text box', figure: percentile(plainTimes, p / 100) },
  }))
}

async function largeDiff(
  browser: Browser,
  { base, token, taskId }: Place,
  ada: Person,
): Promise<readonly Line[]> {
  const command = `for i in 0 1 2 3 4 5 6 7 8 9; do seq 1 ${linesChanged} > part-$i.txt; done`
  await ada.ask(executeTask, { params: { taskId }, body: { command } })
  await ada.taskOnce(taskId, ({ changes, status }) => (changes?.files ?? 0) >= 10 && status !== 'running')
  const mounts: number[] = []
  let nodes = 0
  for (let round = 0; round < rounds; round += 1) {
    const tab = await openTab(browser, base, token)
    const { page } = tab
    await page.goto(`/tasks/${taskId}`)
    await page.getByRole('textbox', { name: 'Message' }).waitFor()
    await page.waitForLoadState('networkidle')
    const before = await page.evaluate(() => document.querySelectorAll('*').length)
    const shown = whenSeen(page, '[role=tabpanel]', 'part-0.txt')
    await page.getByRole('tab', { name: /Code Changes/ }).click()
    await shown
    await page
      .getByRole('region', { name: 'Changes', exact: true })
      .getByText('1', { exact: true })
      .first()
      .waitFor()
    const at = await page.evaluate(() => performance.now())
    const fetched = await page.evaluate(() =>
      Math.max(
        ...performance
          .getEntriesByType('resource')
          .flatMap((entry) =>
            /\/git\/diff|CodeChanges/.test(entry.name) && entry instanceof PerformanceResourceTiming
              ? [entry.responseEnd]
              : [],
          ),
      ),
    )
    nodes = (await page.evaluate(() => document.querySelectorAll('*').length)) - before
    mounts.push(at - fetched)
    await tab.close()
  }
  const plain = await openTab(browser)
  const plainMount = await plain.page.evaluate(
    async (html) => {
      const begun = performance.now()
      document.body.innerHTML = html
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      return performance.now() - begun
    },
    plainLines(10 * linesChanged),
  )
  await plain.close()
  return [
    {
      name: `diff of 10,000 lines, from its data to its lines (${nodes} elements)`,
      unit: 'ms',
      figure: median(mounts),
      floor: { name: 'as many plain lines', figure: plainMount },
    },
  ]
}

/** Serves one page; returns its address. */
async function servePage(scene: Scene, html: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  scene.atEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
}
