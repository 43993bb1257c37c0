/** Events that were skipped because a newer version of the server recorded them, and how they are folded once a server knows them. */
import { z } from 'zod'
import { eventKinds } from '#domain/events.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { requestRebuild } from '#platform/eventlog/quarantine.ts'
import { allDocuments, type Change, type Collection, type ReadStore } from '#platform/ports/readStore.ts'

/** One document per type and version of events that no read model includes. */
export const skippedEvents: Collection = { name: 'skipped', indexes: [] }

const Skipped = z.object({ id: z.string(), type: z.string(), version: z.int() })

/** The same position for every write here, because a type can be skipped again after its document was removed. */
const position: Position = '0'

/** The change of the read models that lists the event's type and version as skipped. */
export function skippedPut({ type, version }: Pick<StoredEvent, 'type' | 'version'>) {
  const document = { id: `${type} ${version}`, type, version }
  return { kind: 'put', collection: skippedEvents.name, document, position } as const satisfies Change
}

/** Requests a rebuild of all read models if events were skipped of a type and version that this server knows. */
export async function releaseSkipped(
  store: Pick<ReadStore, 'prepare' | 'find' | 'apply' | 'catalog' | 'replaceCatalog'>,
): Promise<void> {
  await store.prepare([skippedEvents])
  const known: Change[] = []
  for await (const document of allDocuments(store, skippedEvents.name, 'id')) {
    const { id, type, version } = Skipped.parse(document)
    if (version <= (eventKinds.get(type)?.version ?? 0))
      known.push({ kind: 'remove', collection: skippedEvents.name, id, position })
  }
  if (known.length === 0) return
  // The request comes first, so that a crash between the two leads to another rebuild, not to none.
  await requestRebuild(store)
  await store.apply(known, null)
}
