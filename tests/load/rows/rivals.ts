/** Flightdeck beside the products of its kind that can be installed: what a person waits for, measured the same way in each page. */
import type { Browser, Page } from 'playwright'
import { setTimeout as pause } from 'node:timers/promises'
import { openBareChromium, type BareChromium } from '../bareChromium.ts'
import { openBrowser } from '../browsing.ts'
import { processesOf } from '../../product/processes.ts'
import { residentMegabytes, startProcess } from '../processes.ts'
import { cloudcli } from '../rivals/cloudcli.ts'
import type { Contender, Prepared, SignedIn } from '../rivals/contender.ts'
import { flightdeck } from '../rivals/flightdeck.ts'
import { opencode } from '../rivals/opencode.ts'
import { watchWords, wordsSince } from '../rivals/wordsOnPage.ts'
import type { Line, Row, Scene } from '../row.ts'
import { asking, startStampingModel } from '../stampingModel.ts'
import { median, percentile } from '../statistics.ts'

const rounds = 5
const idleMs = 10_000
const streamed = { words: 100, everyMs: 20 }
const short = { words: 3, everyMs: 0 }
/** How long a page is left alone before somebody writes: what it loads in the background is there by then. */
const restMs = 3_000

type Figures = Readonly<Record<keyof typeof names, number>>
const names = {
  start: { name: 'from the start of the server until it says that it is ready, second start', unit: 'ms' },
  memory: { name: 'resident memory of all processes, 10 s after the start', unit: 'MB' },
  firstText: { name: 'a new run: from the key to the first word on the page', unit: 'ms' },
  followUp: { name: 'the next message: from the key to the first word on the page', unit: 'ms' },
  streamedP50: { name: 'a word every 20 ms, from the model to the page, p50 of 100', unit: 'ms' },
  streamedP99: { name: 'a word every 20 ms, from the model to the page, p99 of 100', unit: 'ms' },
  script: { name: 'bytes of scripts that the first page loads', unit: 'MB' },
  paint: { name: 'largest paint: nothing cached, processor slowed 4 times', unit: 'ms' },
} as const

export const rivals: Row = {
  name: 'rivals',
  onlyByName: true,
  remark:
    'The floor is the rival: below 1, Flightdeck takes less. INSTALL_RIVALS=1 installs them in .cache/rivals.',
  async measure(scene) {
    const model = await startStampingModel()
    scene.atEnd(() => model.close())
    const browser = await openBrowser(scene)
    const chromium = openBareChromium(scene)
    const measured: (readonly [Contender, Figures])[] = []
    for (const contender of [flightdeck, cloudcli, opencode]) {
      const prepared = await contender.prepare(scene, model.baseUrl)
      measured.push([contender, await figuresOf(scene, prepared, { browser, chromium })])
    }
    const [ours, ...others] = measured
    return others.flatMap(([{ name }, theirs]) => lines(name, ours?.[1] ?? theirs, theirs))
  },
}

function lines(rival: string, ours: Figures, theirs: Figures): readonly Line[] {
  return [
    line('start'),
    line('memory'),
    line('firstText'),
    line('followUp'),
    line('streamedP50'),
    line('streamedP99'),
    line('script'),
    line('paint'),
  ]
  function line(key: keyof typeof names): Line {
    return { ...names[key], figure: ours[key], floor: { name: rival, figure: theirs[key] } }
  }
}

interface Browsers {
  readonly browser: Browser
  readonly chromium: BareChromium
}

async function figuresOf(scene: Scene, prepared: Prepared, browsers: Browsers): Promise<Figures> {
  // The first start creates databases and is not measured.
  const start = () => startProcess(prepared.command, prepared)
  let server = await start()
  const person = await prepared.signIn()
  const starts: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await server.stop()
    server = await start()
    starts.push(server.readyMs)
  }
  scene.atEnd(() => server.stop())
  await pause(idleMs)
  const processes = await processesOf(prepared.home)
  const memory = await Promise.all(processes.map(({ pid }) => residentMegabytes(pid)))
  const paints: number[] = []
  for (let round = 0; round < rounds; round += 1)
    paints.push(
      await browsers.chromium.largestPaint(await person.newRun(), { slowed: 4, before: person.before }),
    )
  return {
    start: median(starts),
    memory: memory.reduce((sum, megabytes) => sum + megabytes, 0),
    paint: median(paints),
    ...(await runs(browsers.browser, person)),
  }
}

async function runs(browser: Browser, person: SignedIn) {
  const firsts: number[] = []
  const followUps: number[] = []
  let streamedMs: readonly number[] = []
  let script = 0
  // The first run fills what later ones find: a mirror of the repository, a compiled cache of the program.
  for (let round = 0; round <= rounds; round += 1) {
    const { page, scriptMegabytes, close } = await openPage(browser, person)
    script = scriptMegabytes()
    const begunAt = await person.begin(page, asking(short))
    const firstMs = await firstWordAfter(page, begunAt)
    await pause(restMs)
    const askedAt = await person.followUp(page, asking(short))
    const followUpMs = await firstWordAfter(page, askedAt)
    if (round > 0) {
      firsts.push(firstMs)
      followUps.push(followUpMs)
    }
    if (round === rounds) {
      await pause(restMs)
      const from = await person.followUp(page, asking(streamed))
      const words = await wordsSince(page, from, streamed.words)
      streamedMs = words.map(({ saidAt, seenAt }) => seenAt - saidAt)
    }
    await close()
  }
  return {
    firstText: median(firsts),
    followUp: median(followUps),
    streamedP50: percentile(streamedMs, 0.5),
    streamedP99: percentile(streamedMs, 0.99),
    script,
  }
}

async function firstWordAfter(page: Page, at: number): Promise<number> {
  const [first] = await wordsSince(page, at, short.words)
  if (first === undefined) throw new Error('No word was seen.')
  return first.seenAt - at
}

/** A page of a browser without a history, at rest. It reaches this machine only. */
async function openPage(browser: Browser, person: SignedIn) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.route(
    ({ hostname }) => hostname !== '127.0.0.1',
    (route) => route.abort(),
  )
  await context.addInitScript(`${person.before};${watchWords}`)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Network.enable')
  const scripts = new Set<string>()
  let bytes = 0
  devtools.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await page.goto(await person.newRun())
  await page.waitForTimeout(restMs)
  return { page, scriptMegabytes: () => bytes / 1e6, close: () => context.close() }
}
