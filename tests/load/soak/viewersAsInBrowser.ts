/**
 * A process with viewers, each with the client's own code: its store, its socket, and what keeps an open task live. The process takes the place of the
 * browser, so it has the few things of a browser that this code uses.
 */
import { createHash, type Hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { configureStore, type UnknownAction } from '@reduxjs/toolkit'
import { z } from 'zod'
import type { TerminalOutput } from '#domain/api/chat.schema.ts'
import { messageDocumentId } from '#domain/views/chat.ts'
import { api } from '../../../web/src/api/api.ts'
import { selectLive } from '../../../web/src/live/connection.ts'
import { createLive } from '../../../web/src/live/live.ts'
import { rootReducer } from '../../../web/src/state/rootReducer.ts'
import { createWriting } from '../../../web/src/features/task/chat/streamingText.ts'
import { openTaskReducer, selectOpenTask } from '../../../web/src/features/task/taskSlice.ts'
import { openTaskSync } from '../../../web/src/features/task/taskSync.ts'
import {
  createTerminalLog,
  type TerminalLog,
} from '../../../web/src/features/task/terminal/log/terminalLog.ts'
import { differences, Expected, type Shown } from './differences.ts'

const plan = z
  .object({ base: z.string(), token: z.string(), tasks: z.array(z.string()).min(1), viewers: z.number() })
  .parse(JSON.parse(process.argv[2] ?? ''))
const Order = z.union([z.literal('ages'), z.object({ compareWith: z.string(), withinMs: z.number() })])

const { host, hostname, port, protocol } = new URL(plan.base)
const fetchFrom = globalThis.fetch
const frameMs = 16
const openingAtOnce = 4
// The client tells failures of the network to the console of the browser.
for (const tell of ['warn', 'error'] as const) console[tell] = () => undefined
/** What the client's code uses of a browser. Frames are timers here. */
const browser = {
  window: { addEventListener: () => undefined, removeEventListener: () => undefined },
  location: { host, hostname, port, protocol },
  localStorage: { getItem: () => plan.token, setItem: () => undefined, removeItem: () => undefined },
  requestAnimationFrame: (draw: () => void) => setTimeout(draw, frameMs),
  cancelAnimationFrame: (frame: ReturnType<typeof setTimeout>) => clearTimeout(frame),
  fetch: (address: string, init: RequestInit) => fetchFrom(new URL(address, plan.base), init),
}
for (const [name, value] of Object.entries(browser))
  Object.defineProperty(globalThis, name, { value, configurable: true })

/** How old lines were when a viewer showed them, in milliseconds, since the last question. */
let ages: number[] = []

/** A terminal that keeps no lines, only what identifies them: from which revision on, how many, and their digest. */
function digestedTerminal(): TerminalLog & { hasFailed(): boolean; digested(): Shown['terminal'] } {
  let digest: Hash = createHash('sha256')
  let from: number | null = null
  let pieces = 0
  let isWhole = false
  let hasFailed = false
  const take = (output: readonly TerminalOutput[]) => {
    for (const { version, content } of output) {
      from ??= version
      pieces += 1
      digest.update(`${version}:${content}\n`)
    }
  }
  return {
    ...createTerminalLog(),
    async reset(history, whole = true) {
      digest = createHash('sha256')
      from = null
      pieces = 0
      isWhole = whole
      hasFailed = false
      take(history)
    },
    append(output) {
      for (const { content } of output)
        for (const [, microseconds] of content.matchAll(/@(\d{16})@/g))
          ages.push(Date.now() - Number(microseconds) / 1_000)
      take(output)
    },
    fail: () => void (hasFailed = true),
    hasFailed: () => hasFailed,
    digested: () => ({ from, pieces, isWhole, digest: digest.copy().digest('hex') }),
  }
}

const signedIn: UnknownAction = { type: 'soak/signedIn' }

interface Viewer {
  shown(): Shown
  /** Whether a part of the page could not be read, so that the page offers to read it again. */
  hasFailed(): boolean
  readAgain(): void
}

function openViewer(taskId: string): Viewer {
  const { live, middleware } = createLive({ userKnown: ({ type }) => type === signedIn.type })
  const store = configureStore({
    reducer: rootReducer.inject({ reducerPath: 'openTask', reducer: openTaskReducer }),
    middleware: (defaults) => defaults().prepend(middleware).concat(api.middleware),
  })
  const terminal = digestedTerminal()
  live.begin()
  store.dispatch(signedIn)
  const opened = openTaskSync(taskId, {
    dispatch: store.dispatch,
    live,
    terminal,
    writing: createWriting(),
    // As in useTaskSync.ts.
    needsRefresh: () => {
      const state = store.getState()
      const status = selectOpenTask(state).task?.status
      return status === 'pending' || (!selectLive(state) && (status === 'queued' || status === 'running'))
    },
    isCommand: (messageId) =>
      selectOpenTask(store.getState()).chat.documents[messageDocumentId(taskId, messageId)]?.isCommand ===
      true,
  })
  return {
    shown() {
      const state = store.getState()
      const { task, chat, logs } = selectOpenTask(state)
      return { taskId, isLive: selectLive(state), task, chat, logs, terminal: terminal.digested() }
    },
    hasFailed() {
      const { load, chat, logs, questions } = selectOpenTask(store.getState())
      return (
        terminal.hasFailed() ||
        [load, chat.load, logs.load, questions.load].some(({ kind }) => kind === 'failed')
      )
    },
    readAgain: opened.reload,
  }
}

const viewers: Viewer[] = []
let readAgain = 0
/** What a person does whose page could not read something and says so. */
setInterval(() => {
  for (const viewer of viewers) {
    if (!viewer.hasFailed()) continue
    readAgain += 1
    viewer.readAgain()
  }
}, 15_000)

/** The viewers that show something else than the log says, each with what is different. They have some time to catch up. */
async function compare(file: string, withinMs: number): Promise<readonly string[]> {
  const expected = z.record(z.string(), Expected).parse(JSON.parse(await readFile(file, 'utf8')))
  for (const end = performance.now() + withinMs; ;) {
    const found = viewers.flatMap((viewer, n) => {
      const shown = viewer.shown()
      const of = expected[shown.taskId]
      const found = of === undefined ? ['nothing is expected of its task'] : differences(shown, of)
      return found.length === 0 ? [] : [`viewer ${n} of ${shown.taskId}: ${found.join('; ')}`]
    })
    if (found.length === 0 || performance.now() > end) return found
    await pause(1_000)
  }
}

process.on('message', (message) => {
  const order = Order.parse(message)
  if (order === 'ages') {
    process.send?.({ said: 'ages', ages })
    ages = []
  } else
    void compare(order.compareWith, order.withinMs).then((wrong) =>
      process.send?.({ said: 'compared', wrong, readAgain }),
    )
})

// A few at a time, as people come.
for (let n = 0; n < plan.viewers; n += 1) {
  viewers.push(openViewer(plan.tasks[n % plan.tasks.length] ?? ''))
  while (viewers.filter(({ shown }) => !shown().isLive || shown().task === null).length >= openingAtOnce)
    await pause(50)
}
while (!viewers.every(({ shown }) => shown().isLive && shown().task !== null)) await pause(50)
process.send?.({ said: 'ready' })
