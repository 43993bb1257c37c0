/** Rebuilds read models on separate threads, so that reads and writes do not have to wait. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { StoresConfig } from '#platform/compose.ts'
import type { Rebuilding } from './projector.ts'
import { folding, type DoWork, type Progress, type RebuildEngines, type Work } from './rebuild.ts'
import type { Position } from '#domain/kernel/event.ts'

/** The data that a thread is started with. */
export interface ThreadData {
  readonly config: StoresConfig & { readonly logLevel: string }
  readonly work: Work
}

/** The messages of a thread. */
export type ThreadMessage =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly position: Position | null }
  | { readonly kind: 'failed'; readonly message: string }

/** The most threads. Each folds some 15,000 events a second: decrypting, folding and writing an event take about as long as reading it. */
const maxParts = 4
/** A log with at most this many events is folded in this thread, since a new thread has to load the program first, which takes longer. */
const shortLog = 500
/** How long replaced generations are kept. No call to a shared engine takes so long, so none reads a generation after that. */
const keptMs = 15_000
/** How long to wait for a thread to stop, which it does between two batches. */
const stopTimeoutMs = 5_000

/** Does each part in a thread that opens the configured engines itself. A short log is folded with the engines of this thread. */
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
    // Resolves only on exit, when the thread has closed everything.
    thread.once('exit', () => {
      clearTimeout(ending)
      signal.removeEventListener('abort', stop)
      if (result === undefined) reject(fault)
      else resolve(result)
    })
  })
}

/** Starts a thread. The built server has the worker's file beside it; when run from sources, as in a test, an older Node needs a TypeScript loader. */
function startThread(workerData: ThreadData): Worker {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new Worker(new URL('rebuildWorker.js', here), { workerData })
  const file = JSON.stringify(new URL('rebuildWorker.ts', here).href)
  const program = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${file}, ${JSON.stringify(here)}))`
  return new Worker(program, { eval: true, workerData })
}
