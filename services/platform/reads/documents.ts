/** Reads documents of the read models, typed by their views, and can bring a document up to date from the log. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { views } from '#domain/views/registry.ts'
import { project, type AnyRecorded, type View, type ViewDocument } from '#domain/views/view.ts'
import type { EventFilter } from '#platform/ports/eventStore.ts'
import { NotFolded } from '#platform/ports/faults.ts'
import {
  allDocuments,
  type Catalog,
  type Collection,
  type Document,
  type Find,
  type ReadStore,
  type Served,
} from '#platform/ports/readStore.ts'
import { UnreadableEvent, type EventLog, type Head } from '../eventlog/eventLog.ts'

export interface Documents {
  get<D extends ViewDocument>(view: View<D>, id: string): Promise<D | undefined>
  getMany<D extends ViewDocument>(view: View<D>, ids: readonly string[]): Promise<ReadonlyMap<string, D>>
  find<D extends ViewDocument>(view: View<D>, query: Find): Promise<readonly D[]>
  count(view: View<ViewDocument>, where: Find['where']): Promise<number>
  /**
   * The document at this revision of its stream or later, even if the projection is behind or being rebuilt; the document before the first event that
   * cannot be read, if there is one.
   */
  asOf<D extends ViewDocument>(
    view: View<D>,
    stream: string,
    id: string,
    head: Pick<Head, 'revision'>,
  ): Promise<D | undefined>
  /** Like `asOf`, for the end of the stream. */
  now<D extends ViewDocument>(view: View<D>, stream: string, id: string): Promise<D | undefined>
}

/** The collections of all views, for `ReadStore.prepare`. */
export const collections: readonly Collection[] = views.map(({ collection, indexes }) => ({
  name: collection,
  indexes,
}))

/** The collections that readers find through the catalog, each with the oldest version that the readers understand. */
export const served: readonly Served[] = views.map(({ collection, version, readsFrom = version }) => ({
  collection,
  readsFrom,
}))

/** A filter that matches all events from which these views are computed, and perhaps others. */
export function wantedBy(views: readonly View<ViewDocument>[]): EventFilter {
  const streams = [...new Set(views.flatMap((view) => view.streams))].map((kind) => `${kind}-`)
  const types = views.flatMap((view) => view.types ?? [])
  return views.some((view) => view.types === undefined)
    ? { streams }
    : { streams, types: [...new Set(types)] }
}

/** The events from which all read models are computed. */
export const projectedEvents: EventFilter = wantedBy(views)

/** Whether each view has a readable generation. */
export function isReadable({ live }: Pick<Catalog, 'live'>): boolean {
  return served.every(({ collection, readsFrom }) => (live[collection]?.version ?? -1) >= readsFrom)
}

const readBatch = 1_000

export function documents(readStore: ReadStore, log: EventLog): Documents {
  async function get<D extends ViewDocument>(view: View<D>, id: string): Promise<D | undefined> {
    const document = await readStore.get(view.collection, id)
    return document && typed<D>(document)
  }
  const asOf: Documents['asOf'] = async (view, stream, id, head) => {
    let document = await get(view, id).catch((fault: unknown) => {
      if (fault instanceof NotFolded) return undefined
      throw fault
    })
    let version = document?.version ?? -1
    while (version < head.revision) {
      const events = await log
        .read(stream, version + 1, Math.min(readBatch, head.revision - version))
        .catch((fault: unknown) => {
          // Returns the document up to the unreadable event. Nothing can be appended to this stream.
          if (fault instanceof UnreadableEvent) return []
          throw fault
        })
      for (const event of events) {
        if (view.touches(event).includes(id)) document = project(view, document, event, id)
        version = event.revision
      }
      if (events.length === 0) break
    }
    return document
  }
  return {
    get,
    async getMany<D extends ViewDocument>(view: View<D>, ids: readonly string[]) {
      const found = await readStore.getMany(view.collection, ids)
      return new Map([...found].map(([id, document]) => [id, typed<D>(document)]))
    },
    async find<D extends ViewDocument>(view: View<D>, query: Find) {
      return (await readStore.find(view.collection, query)).map((document) => typed<D>(document))
    },
    count: (view, where) => readStore.count(view.collection, where),
    asOf,
    now: async (view, stream, id) => {
      const head = await log.headOf(stream).catch((fault: unknown): Pick<Head, 'revision'> => {
        // The end of the stream is unknown, so `asOf` reads on until the event that cannot be read.
        if (fault instanceof UnreadableEvent) return { revision: Infinity }
        throw fault
      })
      return asOf(view, stream, id, head)
    },
  }
}

/** Gives a stored document the type that its view writes. The cast holds because only the view writes to its collection. */
function typed<D extends ViewDocument>(document: Document): D {
  return document as unknown as D
}

/** The ids of the view's stored documents that the event removes. */
export async function goneWith<D extends ViewDocument>(
  readStore: Pick<ReadStore, 'find'>,
  { collection, goneWith }: View<D>,
  event: AnyRecorded,
): Promise<readonly string[]> {
  const gone = goneWith?.(event)
  if (!gone) return []
  const ids: string[] = []
  for await (const { id } of allDocuments(readStore, collection, 'order', { [gone.field]: gone.value })) {
    ids.push(id)
    // The embedded read store reads a page without a wait, so other work would get no turn until the last page.
    if (ids.length % readBatch === 0) await nextTurn()
  }
  return ids
}
