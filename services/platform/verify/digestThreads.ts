/** Threads that compute digests: hashing is most of what a check of the log costs. */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Digests } from '#platform/eventlog/chain.ts'
import type { Digest } from './verify.ts'

export interface DigestThreads {
  readonly digest: Digest
  close(): Promise<void>
}

const most = 8

/** Starts threads that compute digests of one page at a time, split equally between them. A call rejects when a thread fails. */
export function digestThreads(count = Math.min(most, availableParallelism())): DigestThreads {
  const threads = Array.from({ length: count }, startWorker)
  return {
    async digest(events) {
      const size = Math.ceil(events.length / threads.length)
      const parts = await Promise.all(
        threads.map(async (thread, index): Promise<readonly Digests[]> => {
          const part = events.slice(index * size, (index + 1) * size)
          if (part.length === 0) return []
          const answer = once(thread, 'message')
          thread.postMessage(part, [])
          // The cast holds because our own worker answers with digests.
          const [digests]: [readonly Digests[]] = (await answer) as [readonly Digests[]]
          return digests
        }),
      )
      return parts.flat()
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.terminate()))
    },
  }
}

/**
 * Starts a worker. When run from sources, as in a test, an older Node needs a TypeScript loader. The built server has the worker's file beside it.
 */
function startWorker(): Worker {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return new Worker(new URL('digestWorker.js', here))
  const file = JSON.stringify(new URL('digestWorker.ts', here).href)
  const program = `import('tsx/esm/api').then(({ tsImport }) => tsImport(${file}, ${JSON.stringify(here)}))`
  return new Worker(program, { eval: true })
}
