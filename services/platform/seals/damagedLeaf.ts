/** Finds the hash under which a record is sealed. A damaged record may no longer contain this hash. */
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { cryptography } from './cryptography.ts'
import { hexOf } from '#domain/proof/bundleHashes.ts'

/**
 * The hash under which the record was sealed: its `meta.hash` if that can be read, else the hash that the next event of its stream names. `undefined`
 * when neither can be read.
 */
export async function hashIn(
  store: Pick<EventStore, 'readStream'>,
  record: LogRecord,
): Promise<string | undefined> {
  if (!isDamaged(record)) return record.meta.hash
  if (record.hash !== null) return record.hash
  const from = record.revision + 1
  if (from === 0) return undefined
  const [next] = await store.readStream(record.stream, { from, direction: 'forwards', limit: 1 })
  return next && !isDamaged(next) && next.revision === from && next.meta.prev !== ''
    ? next.meta.prev
    : undefined
}

/** The hash that is sealed in place of a lost one, as specified in `docs/log-format.md`, "Damaged records". */
export function standInHash({ stream, revision }: Pick<LogRecord, 'stream' | 'revision'>): string {
  return hexOf(cryptography.sha256(cryptography.utf8(`flightdeck.dev/damaged\n${stream}\n${revision}\n`)))
}
