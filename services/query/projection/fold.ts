/** How events become stored documents, a batch at a time: for the projector, and for whoever makes a read model anew. */
import { LRUCache } from 'lru-cache'
import type { Position, StoredEvent, UnreadableReason } from '#domain/kernel/event.ts'
import { parseStream } from '#domain/kernel/streams.ts'
import { belongs, project, type AnyRecorded, type View, type ViewDocument } from '#domain/views/view.ts'
import { goneWith, wantedBy } from '#platform/reads/documents.ts'
import { quarantine, quarantinePosition } from '#platform/eventlog/quarantine.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import { isWanted } from '#platform/ports/eventStore.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import type { Change, Collection, Document, ReadStore } from '#platform/ports/readStore.ts'

export interface FoldEngines {
  readonly store: Pick<ReadStore, 'apply' | 'getMany' | 'find'>
  readonly log: Pick<EventLog, 'open' | 'read'>
  readonly logger: Logger
}

/** Folds a batch, in the order of the log, and then moves the checkpoint that is given. */
export type Fold = (
  events: readonly StoredEvent[],
  checkpoint: { projection: string; position: Position } | null,
) => Promise<void>

/** Remembers documents that were too large to be stored: what is stored of them is of before, and nothing may be folded onto it. */
export const oversized: Collection = { name: 'oversized', indexes: [] }

/** What is kept beside the views. */
export const besides: readonly Collection[] = [oversized, quarantine]

/** A view whose documents are stored under another name. */
export function placed<D extends ViewDocument>(view: View<D>, collection: string): View<D> {
  return { ...view, collection }
}

/** Folds the views, whose collections are where their documents are stored. */
export async function openFold(views: readonly View<ViewDocument>[], engines: FoldEngines): Promise<Fold> {
  const { store, log, logger } = engines
  const wanted = wantedBy(views)
  const stale = await idsIn(store, oversized)
  const flawed = await idsIn(store, quarantine)
  /** Where streams ended that were folded lately: what comes next must follow. */
  const heads = new LRUCache<string, { readonly revision: number; readonly hash: string }>({
    max: knownHeads,
  })

  /** A document that was left behind, as it should be before the event. */
  async function caughtUp<D extends ViewDocument>(
    view: View<D>,
    { stream, revision }: AnyRecorded,
    id: string,
  ): Promise<D | undefined> {
    let document: D | undefined
    for (let from = 0; from < revision; from += readBatch) {
      const events = await log.read(stream, from, Math.min(readBatch, revision - from))
      for (const event of events)
        if (view.touches(event).includes(id)) document = project(view, document, event, id)
    }
    return document
  }

  async function changesOf<D extends ViewDocument>(
    view: View<D>,
    events: readonly AnyRecorded[],
  ): Promise<readonly Change[]> {
    const touched = events
      .map((event) => ({ event, ids: view.touches(event), gone: view.goneWith?.(event) }))
      .filter(({ ids, gone }) => ids.length > 0 || gone)
    if (touched.length === 0) return []
    const { collection } = view
    const before = await store.getMany(collection, [...new Set(touched.flatMap(({ ids }) => ids))])
    // What this collection holds was put here by this view.
    const folded = new Map<string, D | undefined>(
      [...before].map(([id, document]) => [id, document as unknown as D]),
    )
    const changes = new Map<string, Change>()
    for (const { event, ids, gone } of touched) {
      if (gone) {
        const ofBatch = [...folded].filter(
          ([, document]) => document !== undefined && belongs(document, gone),
        )
        const stored = await goneWith(store, view, event)
        for (const id of [...stored, ...ofBatch.map(([id]) => id)]) {
          folded.set(id, undefined)
          changes.set(id, { kind: 'remove', collection, id, position: event.position })
        }
      }
      for (const id of ids) {
        if (!changes.has(id) && stale.has(markOf(collection, id)))
          folded.set(id, await caughtUp(view, event, id))
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

  /** The change, and that nothing is left behind any more where it was. */
  function whole(change: Change): readonly Change[] {
    const mark = markOf(change.collection, idOf(change))
    if (!stale.has(mark)) return [change]
    return [change, { kind: 'remove', collection: oversized.name, id: mark, position: change.position }]
  }

  function applied(changes: readonly Change[]): void {
    for (const { kind, collection, ...change } of changes)
      if (collection === oversized.name && kind === 'remove' && 'id' in change) stale.delete(change.id)
  }

  /** A document that the store does not take stays as it was, is remembered, and holds up none of the others. */
  async function applyWhatFits(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      const together = whole(change)
      try {
        await store.apply(together, null)
        applied(together)
      } catch (fault) {
        if (!(fault instanceof TooLarge)) throw fault
        logger.error({ err: fault }, 'document too large, not projected')
        const id = markOf(change.collection, idOf(change))
        const { position } = change
        await store.apply([{ kind: 'put', collection: oversized.name, document: { id }, position }], null)
        stale.add(id)
      }
    }
  }

  /** Of the streams that are met in their midst: those whose beginning is not there any more, and why. */
  async function withoutBeginning(
    stored: readonly StoredEvent[],
  ): Promise<ReadonlyMap<string, UnreadableEvent>> {
    const met = new Map<string, StoredEvent>()
    for (const event of stored)
      if (!heads.has(event.stream) && !flawed.has(event.stream) && !met.has(event.stream))
        met.set(event.stream, event)
    const faults = new Map<string, UnreadableEvent>()
    await Promise.all(
      [...met].map(async ([stream, { revision }]) => {
        if (revision === 0) return
        try {
          await log.read(stream, 0, 1)
        } catch (fault) {
          if (!(fault instanceof UnreadableEvent)) throw fault
          if (fault.reason === 'truncated' || fault.reason === 'deleted') faults.set(stream, fault)
        }
      }),
    )
    return faults
  }

  /** The events that can be read, and the first of each stream that cannot. */
  async function readable(stored: readonly StoredEvent[]) {
    const opened = await Promise.allSettled(stored.map(log.open))
    const cut = await withoutBeginning(stored)
    const events: AnyRecorded[] = []
    const bad: { readonly event: StoredEvent; readonly fault: UnreadableEvent }[] = []
    for (const [index, event] of stored.entries()) {
      const { stream, revision, meta } = event
      if (flawed.has(stream)) continue
      const result = opened[index]
      const head = heads.get(stream)
      const follows =
        head === undefined ||
        wanted.types !== undefined ||
        revision <= head.revision ||
        (revision === head.revision + 1 && meta.prev === head.hash)
      const fault = cut.has(stream)
        ? cut.get(stream)
        : !follows
          ? new UnreadableEvent(event, 'broken_chain')
          : result?.status === 'rejected'
            ? result.reason
            : undefined
      if (fault !== undefined && !(fault instanceof UnreadableEvent)) throw fault
      if (fault === undefined || isOfLaterVersion(fault)) heads.set(stream, { revision, hash: meta.hash })
      if (fault === undefined) {
        if (result?.status === 'fulfilled') events.push(result.value)
      } else if (isOfLaterVersion(fault)) {
        // A newer version wrote it: what this one knows of the stream goes on.
        logger.warn({ stream, revision, type: event.type }, 'skipped an event of a newer version')
      } else {
        logger.error({ err: fault }, 'stream set aside: its events are no longer folded')
        flawed.add(stream)
        bad.push({ event, fault })
      }
    }
    return { events, bad }
  }

  /** Remembers the streams that cannot be read on, and says so in their documents. */
  async function flawsOf(
    bad: readonly { readonly event: StoredEvent; readonly fault: UnreadableEvent }[],
    changes: readonly Change[],
  ): Promise<readonly Change[]> {
    const found: Change[] = []
    for (const { event, fault } of bad) {
      const { stream, revision, type } = event
      const { reason } = fault
      const document = { id: stream, revision, type, reason }
      found.push({ kind: 'put', collection: quarantine.name, document, position: quarantinePosition })
      for (const view of views) found.push(...(await flawIn(view, event, reason, changes)))
    }
    return found
  }

  async function flawIn<D extends ViewDocument>(
    view: View<D>,
    { stream, revision, position }: StoredEvent,
    reason: UnreadableReason,
    changes: readonly Change[],
  ): Promise<readonly Change[]> {
    const { collection } = view
    const { id } = { id: '', ...parseStream(stream) }
    if (view.flawed === undefined || id === '') return []
    const change = changes.findLast((one) => one.collection === collection && idOf(one) === id)
    const stored = change ? undefined : (await store.getMany(collection, [id])).get(id)
    const before = change?.kind === 'put' ? change.document : stored
    // What this collection holds was put here by this view.
    const document = before && view.flawed(before as unknown as D, { revision, reason })
    return document === undefined
      ? []
      : [{ kind: 'put', collection, document: document as unknown as Document, position }]
  }

  return async (stored, checkpoint) => {
    // What no view wants, as all of the terminal, is not even opened.
    const { events, bad } = await readable(stored.filter((event) => isWanted(wanted, event)))
    const folded = (await Promise.all(views.map((view) => changesOf(view, events)))).flat()
    const changes = [...folded, ...(await flawsOf(bad, folded))]
    const together = changes.flatMap(whole)
    // The checkpoint comes last: a crash before it replays the batch, and every write is a no-op then.
    try {
      await store.apply(together, checkpoint)
      applied(together)
    } catch (fault) {
      if (!(fault instanceof TooLarge)) throw fault
      await applyWhatFits(changes)
      await store.apply([], checkpoint)
    }
  }
}

const readBatch = 1_000
const knownHeads = 10_000

const isOfLaterVersion = ({ reason }: UnreadableEvent): boolean =>
  reason === 'unknown_kind' || reason === 'newer_version'

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
