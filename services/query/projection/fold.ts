/** Folds events into stored documents, one batch after the other. The projector and the rebuilding of read models use this. */
import { LRUCache } from 'lru-cache'
import type { Position, UnreadableReason } from '#domain/kernel/event.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import { belongs, project, type AnyRecorded, type View, type ViewDocument } from '#domain/views/view.ts'
import { atMost } from '#platform/atMost.ts'
import type { Engines } from '#platform/compose.ts'
import { goneWith, wantedBy } from '#platform/reads/documents.ts'
import { putOf, quarantine, type Quarantined } from '#platform/eventlog/quarantine.ts'
import { isOfLaterVersion, UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { isDamaged, matches, type EventFilter, type LogRecord } from '#platform/ports/eventStore.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import type { Change, Collection, Document, ReadStore } from '#platform/ports/readStore.ts'
import { skippedEvents, skippedPut } from './skippedEvents.ts'

export interface FoldEngines extends Pick<Engines, 'log' | 'logger'> {
  readonly store: Pick<ReadStore, 'apply' | 'getMany' | 'find'>
}

export interface Fold {
  /** Folds a batch of events, which must be in the order of the log, and then sets the checkpoint. */
  fold(
    events: readonly LogRecord[],
    checkpoint: { projection: string; position: Position } | null,
  ): Promise<void>
  /** Stops folding a stream in quarantine, and marks its documents. `position` is the position up to which the log was folded. */
  setAside(quarantined: Quarantined, position: Position): Promise<void>
}

/**
 * The collection with the names of documents that became too large to be stored. The stored versions of these documents lack events, so no further
 * event may be folded into them.
 */
export const oversized: Collection = { name: 'oversized', indexes: [] }

/** The collections that a fold uses besides the collections of the views. */
export const auxiliaryCollections: readonly Collection[] = [oversized, quarantine, skippedEvents]

/** The view with its documents in another collection. */
export function placed<D extends ViewDocument>(view: View<D>, collection: string): View<D> {
  return { ...view, collection }
}

interface OpenFold extends FoldEngines {
  readonly views: readonly View<ViewDocument>[]
  /** The views, each with the events that it needs. */
  readonly filtered: readonly { readonly view: View<ViewDocument>; readonly filter: EventFilter }[]
  readonly wanted: EventFilter
  /** The documents that are listed in the collection `oversized`, by the names from `markOf`. */
  readonly stale: Set<string>
  /** The names of the streams in quarantine. */
  readonly quarantined: Set<string>
  /** The ids of the documents in the collection `skipped`. */
  readonly skipped: Set<string>
  /** The last event of each recently folded stream, to check that the next event follows it. */
  readonly heads: LRUCache<string, { readonly revision: number; readonly hash: string }>
}

/** Opens a fold of the views into their collections. */
export async function openFold(views: readonly View<ViewDocument>[], engines: FoldEngines): Promise<Fold> {
  const { store } = engines
  const fold: OpenFold = {
    ...engines,
    views,
    filtered: views.map((view) => ({ view, filter: wantedBy([view]) })),
    wanted: wantedBy(views),
    stale: await idsIn(store, oversized),
    quarantined: await idsIn(store, quarantine),
    skipped: await idsIn(store, skippedEvents),
    heads: new LRUCache(atMost(knownHeads)),
  }
  return {
    fold: (stored, checkpoint) => foldBatch(fold, stored, checkpoint),
    async setAside({ id: stream, revision, reason }, position) {
      fold.quarantined.add(stream)
      const changes = fold.views.map((view) => flawIn(fold, view, { stream, revision, position }, reason, []))
      await store.apply((await Promise.all(changes)).flat(), null)
    },
  }
}

async function foldBatch(
  fold: OpenFold,
  stored: readonly LogRecord[],
  checkpoint: Parameters<Fold['fold']>[1],
): Promise<void> {
  const { store, filtered, wanted } = fold
  // Events that no view needs, such as terminal output, are not decrypted.
  const { events, bad, newer } = await readable(
    fold,
    stored.filter((event) => matches(wanted, event)),
  )
  const ofViews = filtered.map(({ view, filter }) =>
    changesOf(
      fold,
      view,
      events.filter((event) => matches(filter, event)),
    ),
  )
  const folded = (await Promise.all(ofViews)).flat()
  const changes = [...newer, ...folded, ...(await flawsOf(fold, bad, folded))]
  const together = changes.flatMap((change) => withMarkRemoved(fold, change))
  // The checkpoint comes last. After a crash before it, the batch is folded again, which changes nothing.
  try {
    await store.apply(together, checkpoint)
    applied(fold, together)
  } catch (fault) {
    if (!(fault instanceof TooLarge)) throw fault
    await applyWhatFits(fold, changes)
    await store.apply([], checkpoint)
  }
}

/** Folds the document `id` again, from the beginning of its stream up to the event before `revision`, because the stored version is too old. */
async function caughtUp<D extends ViewDocument>(
  fold: OpenFold,
  view: View<D>,
  { stream, revision }: AnyRecorded,
  id: string,
): Promise<D | undefined> {
  let document: D | undefined
  for (let from = 0; from < revision; from += readBatch) {
    const events = await fold.log.read(stream, from, Math.min(readBatch, revision - from))
    for (const event of events)
      if (view.touches(event).includes(id)) document = project(view, document, event, id)
  }
  return document
}

async function changesOf<D extends ViewDocument>(
  fold: OpenFold,
  view: View<D>,
  events: readonly AnyRecorded[],
): Promise<readonly Change[]> {
  const touched = events
    .map((event) => ({ event, ids: view.touches(event), gone: view.goneWith?.(event) }))
    .filter(({ ids, gone }) => ids.length > 0 || gone)
  if (touched.length === 0) return []
  const { collection } = view
  const before = await fold.store.getMany(collection, [...new Set(touched.flatMap(({ ids }) => ids))])
  // The cast holds because only this view writes to this collection.
  const folded = new Map<string, D | undefined>(
    [...before].map(([id, document]) => [id, document as unknown as D]),
  )
  const changes = new Map<string, Change>()
  for (const { event, ids, gone } of touched) {
    if (gone) {
      const ofBatch = [...folded].filter(([, document]) => document !== undefined && belongs(document, gone))
      const stored = await goneWith(fold.store, view, event)
      for (const id of [...stored, ...ofBatch.map(([id]) => id)]) {
        folded.set(id, undefined)
        changes.set(id, { kind: 'remove', collection, id, position: event.position })
      }
    }
    for (const id of ids) {
      if (!changes.has(id) && fold.stale.has(markOf(collection, id)))
        folded.set(id, await caughtUp(fold, view, event, id))
      const document = project(view, folded.get(id), event, id)
      folded.set(id, document)
      const { position } = event
      changes.set(
        id,
        document === undefined
          ? { kind: 'remove', collection, id, position }
          : { kind: 'put', collection, document: document as unknown as Document, position },
      )
    }
  }
  return [...changes.values()]
}

/** The change and, if the document was in `oversized`, the removal of its entry in `oversized`. */
function withMarkRemoved(fold: OpenFold, change: Change): readonly Change[] {
  const mark = markOf(change.collection, idOf(change))
  if (!fold.stale.has(mark)) return [change]
  return [change, { kind: 'remove', collection: oversized.name, id: mark, position: change.position }]
}

function applied(fold: OpenFold, changes: readonly Change[]): void {
  for (const change of changes)
    if (change.kind === 'put') {
      if (change.collection === skippedEvents.name) fold.skipped.add(change.document.id)
    } else if (change.collection === oversized.name) fold.stale.delete(change.id)
}

/** Applies changes one at a time. A document that is too large is listed in `oversized`, and its stored version stays. */
async function applyWhatFits(fold: OpenFold, changes: readonly Change[]): Promise<void> {
  for (const change of changes) {
    const together = withMarkRemoved(fold, change)
    try {
      await fold.store.apply(together, null)
      applied(fold, together)
    } catch (fault) {
      if (!(fault instanceof TooLarge)) throw fault
      fold.logger.error({ err: fault }, 'document too large, not projected')
      const id = markOf(change.collection, idOf(change))
      const { position } = change
      await fold.store.apply([{ kind: 'put', collection: oversized.name, document: { id }, position }], null)
      fold.stale.add(id)
    }
  }
}

/** Finds streams in the batch whose first events were removed from the log, and why each cannot be read. Known streams are not checked. */
async function withoutBeginning(
  fold: OpenFold,
  stored: readonly LogRecord[],
): Promise<ReadonlyMap<string, UnreadableEvent>> {
  const met = new Map<string, LogRecord>()
  for (const event of stored)
    if (!fold.heads.has(event.stream) && !fold.quarantined.has(event.stream) && !met.has(event.stream))
      met.set(event.stream, event)
  const faults = new Map<string, UnreadableEvent>()
  await Promise.all(
    [...met].map(async ([stream, { revision }]) => {
      if (revision === 0) return
      try {
        await fold.log.read(stream, 0, 1)
      } catch (fault) {
        if (!(fault instanceof UnreadableEvent)) throw fault
        if (fault.reason === 'truncated' || fault.reason === 'deleted') faults.set(stream, fault)
      }
    }),
  )
  return faults
}

/**
 * The readable events of the batch, for each stream with unreadable events its first unreadable event, and the changes that list the types of skipped
 * events.
 */
async function readable(fold: OpenFold, stored: readonly LogRecord[]) {
  const opened = await Promise.allSettled(stored.map(fold.log.open))
  const cut = await withoutBeginning(fold, stored)
  const events: AnyRecorded[] = []
  const bad: { readonly event: LogRecord; readonly fault: UnreadableEvent }[] = []
  const newer = new Map<string, Change>()
  for (const [index, event] of stored.entries()) {
    const { stream, revision } = event
    if (fold.quarantined.has(stream)) continue
    const result = opened[index]
    const head = fold.heads.get(stream)
    const follows =
      head === undefined ||
      fold.wanted.types !== undefined ||
      isDamaged(event) ||
      revision <= head.revision ||
      (revision === head.revision + 1 && event.meta.prev === head.hash)
    const fault = cut.has(stream)
      ? cut.get(stream)
      : !follows
        ? new UnreadableEvent(event, 'broken_chain')
        : result?.status === 'rejected'
          ? result.reason
          : undefined
    if (fault !== undefined && !(fault instanceof UnreadableEvent)) throw fault
    if (!isDamaged(event) && (fault === undefined || isOfLaterVersion(fault)))
      fold.heads.set(stream, { revision, hash: event.meta.hash })
    if (fault === undefined) {
      if (result?.status === 'fulfilled') events.push(result.value)
    } else if (isOfLaterVersion(fault)) {
      // A newer version of the server recorded the event. Other events of the same stream are still folded.
      fold.logger.warn({ stream, revision, type: event.type }, 'skipped an event of a newer version')
      const put = isDamaged(event) ? undefined : skippedPut(event)
      if (put && !fold.skipped.has(put.document.id)) newer.set(put.document.id, put)
    } else {
      fold.logger.error({ err: fault }, 'stream set aside: its events are no longer folded')
      fold.quarantined.add(stream)
      bad.push({ event, fault })
    }
  }
  return { events, bad, newer: newer.values() }
}

/** The changes that put unreadable streams into quarantine and mark their documents. */
async function flawsOf(
  fold: OpenFold,
  bad: readonly { readonly event: LogRecord; readonly fault: UnreadableEvent }[],
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const found: Change[] = []
  for (const { event, fault } of bad) {
    const { stream, revision, type } = event
    const { reason } = fault
    found.push(putOf({ id: stream, revision, type, reason }))
    for (const view of fold.views) found.push(...(await flawIn(fold, view, event, reason, changes)))
  }
  return found
}

async function flawIn<D extends ViewDocument>(
  fold: OpenFold,
  view: View<D>,
  { stream, revision, position }: Pick<LogRecord, 'stream' | 'revision' | 'position'>,
  reason: UnreadableReason,
  changes: readonly Change[],
): Promise<readonly Change[]> {
  const { collection } = view
  const { kind, id } = { id: '', ...parseStream(stream) }
  if (view.flawed === undefined || id === '' || (kind !== 'task' && kind !== 'terminal')) return []
  const change = changes.findLast((one) => one.collection === collection && idOf(one) === id)
  const stored = change ? undefined : (await fold.store.getMany(collection, [id])).get(id)
  const before = change?.kind === 'put' ? change.document : stored
  // The cast holds because only this view writes to this collection.
  const document = before && view.flawed(before as unknown as D, { stream: kind, revision, reason })
  return document === undefined
    ? []
    : [{ kind: 'put', collection, document: document as unknown as Document, position }]
}

const readBatch = 1_000
const knownHeads = 10_000

const markOf = (collection: string, id: string): string => `${collection}/${id}`
const idOf = (change: Change): string => (change.kind === 'put' ? change.document.id : change.id)

async function idsIn(store: Pick<ReadStore, 'find'>, { name }: Collection): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let last: string | undefined; ;) {
    const found = await store.find(name, {
      where: {},
      sort: { field: 'id', direction: 'ascending' },
      limit: readBatch,
      ...(last === undefined ? {} : { after: { value: last, id: last } }),
    })
    for (const { id } of found) ids.add(id)
    if (found.length < readBatch) return ids
    last = found.at(-1)?.id
  }
}
