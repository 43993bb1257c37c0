/** The worker thread that computes digests of events. It keeps no state between pages. */
import { parentPort } from 'node:worker_threads'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'

parentPort?.on('message', (events: readonly StoredEvent[]) => {
  parentPort?.postMessage(events.map(digestsOf), [])
})
