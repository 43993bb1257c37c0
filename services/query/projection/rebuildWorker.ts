/** The program of a thread that rebuilds read models: does one piece of work with its own engines, reports progress, and ends. */
import { parentPort, workerData } from 'node:worker_threads'
import { openStores } from '#platform/compose.ts'
import { logger } from '#platform/log.ts'
import { folding } from './rebuild.ts'
import type { ThreadMessage, ThreadData } from './rebuildThread.ts'

const reportIntervalMs = 200

async function main({ config, work }: ThreadData): Promise<void> {
  const say = (said: ThreadMessage) => parentPort?.postMessage(said, [])
  const stopping = new AbortController()
  parentPort?.on('message', () => stopping.abort())
  const log = logger(config.logLevel, { service: 'rebuild' })
  try {
    const stores = await openStores(config, log)
    try {
      let toldAt = 0
      const position = await folding({ ...stores, logger: log })(
        work,
        (progress) => {
          if (performance.now() - toldAt < reportIntervalMs) return
          toldAt = performance.now()
          say({ kind: 'progress', progress })
        },
        stopping.signal,
      )
      say({ kind: 'done', position })
    } finally {
      await stores.close()
    }
  } catch (fault) {
    if (!stopping.signal.aborted) log.error({ err: fault }, 'rebuilding read models failed')
    say({ kind: 'failed', message: fault instanceof Error ? fault.message : String(fault) })
  } finally {
    parentPort?.close()
  }
}

// The cast holds because `rebuildThread.ts` starts this thread with `ThreadData`.
void main(workerData as ThreadData)
