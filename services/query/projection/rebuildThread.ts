/** Rebuilds read models in separate threads, so that requests need not wait. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { StoresConfig } from '#platform/compose.ts'
import type { Rebuilding } from './projector.ts'
import { folding, type DoWork, type Progress, type RebuildEngines, type Work } from './rebuild.ts'
import type { Position } from '#domain/kernel/event.ts'

/** The data with which a thread is started. */
export interface ThreadData {
  readonly config: StoresConfig & { readonly logLevel: string }
  readonly work: Work
}

/** The messages that a thread sends. */
export type ThreadMessage =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly position: Position | null }
  | { readonly kind: 'failed'; readonly message: string }

/** A rebuild uses at most this many threads. One thread folds some 15,000 events a second. */
const maxParts = 4
/** A log with at most this many events is folded in the server's own thread, because the start of a new thread would take longer. */
const shortLog = 500
/** How long replaced generations are kept in MongoDB, in milliseconds. No call that reads a generation takes longer. */
const keptMs = 15_000
/** How long to wait for a thread to stop by itself. A thread stops between two batches. */
const stopTimeoutMs = 5_000

/** Does the work in threads, each of which opens its own engines by the configuration. A short log is folded in this thread with `atHand`. */
export function onThreads(config: ThreadData['config'], atHand: RebuildEngines): Rebuilding {
  const { dataDir, engines, masterKey, logLevel } = config
  const ofThread = { dataDir, engines, masterKey, logLevel }
  const fold = folding(atHand)
  return {
    async doWork(work, tell, signal) {
      if (work.kind === 'fold' && (await isShort(atHand.eventStore))) return fold(work, tell, signal)
      return doWork(ofThread, work, tell, signal)
    },
    parts: Math.min(maxParts, availableParallelism()),
    keptMs: engines.mongo === null ? 0 : keptMs,
  }
}

async function isShort(eventStore: RebuildEngines['eventStore']): Promise<boolean> {
  return (await eventStore.readAll(null, shortLog + 1)).length <= shortLog
}

function doWork(
  config: ThreadData['config'],
  work: Work,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): ReturnType<DoWork> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const thread = startThread({ config, work })
    let fault = new Error('The thread ended.')
    let result: Position | null | undefined
    let ending: NodeJS.Timeout | undefined
    const stop = () => {
      thread.postMessage('stop', [])
      ending = setTimeout(() => void thread.terminate(), stopTimeoutMs)
    }
    signal.addEventListener('abort', stop, { once: true })
    thread.on('message', (message: ThreadMessage) => {
      switch (message.kind) {
        case 'progress':
          return tell(message.progress)
        case 'done':
          result = message.position
          return
        case 'failed':
          fault = new Error(message.message)
      }
    })
    thread.on('error', (thrown) => (fault = thrown instanceof Error ? thrown : new Error(String(thrown))))
    // The promise settles only at the thread's exit, when the thread has closed its engines.
    thread.once('exit', () => {
      clearTimeout(ending)
      signal.removeEventListener('abort', stop)
      if (result === undefined) reject(fault)
      else resolve(result)
    })
  })
}

/** Starts a thread. In the built server, the worker is a JavaScript file. From sources, as in tests, an older Node needs a loader for TypeScript. */
function startThread(workerData: ThreadData): Worker {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new Worker(new URL('rebuildWorker.js', here), { workerData })
  const file = JSON.stringify(new URL('rebuildWorker.ts', here).href)
  const program = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${file}, ${JSON.stringify(here)}))`
  return new Worker(program, { eval: true, workerData })
}
