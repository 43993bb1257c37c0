/** Rebuilds read models on threads of their own, so that reads and writes do not wait for it. */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { StoresConfig } from '#platform/compose.ts'
import type { Rebuilding } from './projector.ts'
import { folding, type DoWork, type Progress, type RebuildEngines, type Work } from './rebuild.ts'
import type { Position } from '#domain/kernel/event.ts'

/** What a thread is begun with. */
export interface ThreadData {
  readonly config: StoresConfig & { readonly logLevel: string }
  readonly work: Work
}

/** What a thread says. */
export type ThreadMessage =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'done'; readonly position: Position | null }
  | { readonly kind: 'failed'; readonly message: string }

/** A thread folds some 15,000 events a second: opening each, folding it and writing take about as long as reading it. */
const maxParts = 4
/** A log with no more events than this is folded here: a thread takes longer to begin, as it loads the program once more. */
const shortLog = 500
/** Longer than any call to a shared engine takes. */
const keptMs = 15_000
/** A thread notices between two batches that it is to stop. */
const stopTimeoutMs = 5_000

/** Has each part done by a thread that opens the engines of the configuration for itself; a short log is folded with the engines at hand. */
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
    // Only on exit, when everything that the thread had open is closed.
    thread.once('exit', () => {
      clearTimeout(ending)
      signal.removeEventListener('abort', stop)
      if (result === undefined) reject(fault)
      else resolve(result)
    })
  })
}

/** The built server has the worker's file beside it. Run from its sources, as in a test, an older Node needs a loader for them. */
function startThread(workerData: ThreadData): Worker {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new Worker(new URL('rebuildWorker.js', here), { workerData })
  const file = JSON.stringify(new URL('rebuildWorker.ts', here).href)
  const program = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${file}, ${JSON.stringify(here)}))`
  return new Worker(program, { eval: true, workerData })
}
