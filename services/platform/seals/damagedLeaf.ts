/** What stands for a record in the trees that are sealed. Of a damaged one that is not always in the record itself. */
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import { cryptography } from './cryptography.ts'
import { hexOf } from '#domain/proof/bundleHashes.ts'

/**
 * The hash of the record that is sealed: its `meta.hash`, also of a damaged record where it can be read, else what the next event of its
 * stream says that it was. `undefined` when neither tells it.
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

/** What is sealed in the place of a hash that nothing tells any more: `docs/log-format.md`, "Damaged records". */
export function standInHash({ stream, revision }: Pick<LogRecord, 'stream' | 'revision'>): string {
  return hexOf(cryptography.sha256(cryptography.utf8(`flightdeck.dev/damaged\n${stream}\n${revision}\n`)))
}
