/**
 * Read models: JSON documents that can be discarded and folded (computed event by event) again from the log. Tested by
 * `tests/contracts/readStore.spec.ts`.
 *
 * There need be no transactions. Documents are written first and the checkpoint last. A write that is older than the stored document does nothing, so
 * a batch can be applied twice.
 *
 * A served collection, such as `tasks`, is stored in generations, such as `tasks_g3`. Readers use the name `tasks`, and get the documents of the
 * generation that the catalog names as live. If none is live, or one of a version that is too old, reads throw `NotFolded`. Any other name stands for
 * the stored collection of exactly that name.
 */
import { z } from 'zod'
import type { Position } from '#domain/kernel/event.ts'
import { NotFolded } from './faults.ts'

/** A document: plain JSON with an `id` that is unique in its collection. */
export type Document = { readonly id: string } & Readonly<Record<string, unknown>>

/** A collection, and the fields by which it is queried and sorted. Each index has equality fields, then the sort field. */
export interface Collection {
  readonly name: string
  readonly indexes: readonly (readonly string[])[]
}

/**
 * A write; `position` is the position of the last event that is part of the document. A removal stores its position, so that an older put does
 * nothing.
 */
export type Change =
  | {
      readonly kind: 'put'
      readonly collection: string
      readonly document: Document
      readonly position: Position
    }
  | { readonly kind: 'remove'; readonly collection: string; readonly id: string; readonly position: Position }

export interface Find {
  /**
   * Conditions that must all hold. The fields (dots separate nested names) have plain values, no lists. A list here matches any of its values, and
   * `null` matches a field that is null or missing.
   */
  readonly where: Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>
  /**
   * The field to sort by; ties are broken by `id` in the same direction. All values of a field have one type, and a sort field is in every document
   * and never null. Text is ordered by code point.
   */
  readonly sort: { readonly field: string; readonly direction: 'ascending' | 'descending' }
  readonly limit: number
  /** Only documents after this place in the sort order match. */
  readonly after?: { readonly value: string | number; readonly id: string }
}

/** One build of a collection: the name under which it is stored, and the version of the view that folded it. */
const Generation = z.object({ name: z.string(), version: z.int() }).readonly()
export type Generation = z.infer<typeof Generation>
const Generations = z.record(z.string(), Generation).readonly()

/** A running rebuild: its generations by collection, and its progress. */
const Build = z
  .object({
    generations: Generations,
    begunAt: z.string(),
    events: z.number(),
    /** The position that the rebuild has reached; `head` is the end of the log when it began. Both are `null` if there is none. */
    position: z.string().nullable(),
    head: z.string().nullable(),
  })
  .readonly()
export type Build = z.infer<typeof Build>

/** The state of all read models. A new catalog has the `revision` of the catalog that it replaces, plus 1. */
export const Catalog = z
  .object({
    revision: z.int(),
    /** The log that the documents are folded from; `null` before the first start of a projector. */
    log: z.object({ logId: z.string(), epoch: z.int() }).readonly().nullable(),
    /** The number of the latest generation; numbers are never reused. */
    last: z.int(),
    /** For each collection, the generation that readers use. */
    live: Generations,
    building: Build.nullable(),
    /** Collections for which an operator requested a rebuild. */
    wanted: z.array(z.string()).readonly(),
  })
  .readonly()
export type Catalog = z.infer<typeof Catalog>

export const emptyCatalog: Catalog = {
  revision: 0,
  log: null,
  last: 0,
  live: {},
  building: null,
  wanted: [],
}

/** A collection that readers find through the catalog, and its oldest readable version. */
export interface Served {
  readonly collection: string
  readonly readsFrom: number
}

/**
 * A store beside the read store, for a rebuild. Folding documents in it blocks nobody; `land` then copies them to collections that nobody reads yet.
 */
export interface Aside extends Pick<ReadStore, 'prepare' | 'apply' | 'getMany' | 'find'> {
  /**
   * Copies everything to the prepared collections of the same names, yielding to other writers. Newer documents in them are kept. Does nothing when
   * the documents are there already, because the engine needs no separate store.
   */
  land(collections: readonly string[], signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface ReadStore {
  /** The current catalog; `emptyCatalog` before the first catalog was stored. */
  catalog(): Promise<Catalog>
  /** Replaces the catalog of the previous revision atomically; false when another writer was faster. */
  replaceCatalog(next: Catalog): Promise<boolean>
  prepare(collections: readonly Collection[]): Promise<void>
  /**
   * Applies the changes of each collection in order, and then sets the checkpoint of `projection`, if given; a checkpoint never goes back. A change
   * with exactly the stored position is applied, so that one event can change a document twice.
   */
  apply(
    changes: readonly Change[],
    checkpoint: { projection: string; position: Position } | null,
  ): Promise<void>
  checkpoint(projection: string): Promise<Position | null>
  get(collection: string, id: string): Promise<Document | undefined>
  /** The documents that exist under these ids, by id. */
  getMany(collection: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>
  find(collection: string, query: Find): Promise<readonly Document[]>
  count(collection: string, where: Find['where']): Promise<number>
  forget(projection: string): Promise<void>
  /** The names of all stored generations, including those that no catalog mentions. */
  generations(): Promise<readonly string[]>
  /** Drops collections, yielding to other writers. Missing collections are ignored. */
  drop(collections: readonly string[], signal?: AbortSignal): Promise<void>
  /** Opens a store for one of several parallel folds: a separate empty one, unless the engine's writers do not block each other anyway. */
  aside(part: number): Promise<Aside>
  /** Removes separate stores that were not closed, for example because the process was killed. Call it while no separate store is open. */
  removeAsides(): Promise<void>
  /**
   * Ensures that everything that was removed or replaced before this call is gone from all files of the store, including free pages and write-ahead
   * logs. Does nothing for a database server, whose files belong to its operator.
   */
  scrub(): Promise<void>
  ready(): Promise<void>
  close(): Promise<void>
}

/** All documents of a collection, in the order of a field, read page by page. */
export async function* allDocuments(
  store: Pick<ReadStore, 'find'>,
  collection: string,
  field: string,
  where: Find['where'] = {},
): AsyncGenerator<Document> {
  const limit = 1_000
  const sort = { field, direction: 'ascending' } as const
  for (let after: Find['after']; ;) {
    const found = await store.find(collection, { where, sort, limit, ...(after && { after }) })
    yield* found
    const last = found.at(-1)
    const value = last?.[field]
    if (!last || found.length < limit) return
    if (typeof value !== 'string' && typeof value !== 'number') throw new TypeError(`No order: ${field}`)
    after = { value, id: last.id }
  }
}

/** The name of a generation, such as `tasks_g3`. */
export const generationName = (collection: string, generation: number): string =>
  `${collection}_g${generation}`
export const isGeneration = (name: string): boolean => /_g[1-9]\d*$/.test(name)

type StoredNames = (collection: string, catalog: Pick<Catalog, 'live'>) => string

/** Resolves a served collection to its live generation, and other names to themselves. Throws `NotFolded` when no generation can be read. */
export function storedNames(served: readonly Served[]): StoredNames {
  const readsFrom = new Map(served.map((one) => [one.collection, one.readsFrom]))
  return (collection, { live }) => {
    const oldest = readsFrom.get(collection)
    if (oldest === undefined) return collection
    const generation = live[collection]
    if (generation === undefined || generation.version < oldest) throw new NotFolded(collection)
    return generation.name
  }
}

const maxAttempts = 20

/**
 * Changes the catalog. Tries again when another writer was faster, but throws after 20 attempts. If `change` returns `undefined`, the catalog stays
 * as it is. Returns the resulting catalog.
 */
export async function changeCatalog(
  store: Pick<ReadStore, 'catalog' | 'replaceCatalog'>,
  change: (catalog: Catalog) => Omit<Catalog, 'revision'> | undefined,
): Promise<Catalog> {
  for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
    const catalog = await store.catalog()
    const changed = change(catalog)
    if (changed === undefined) return catalog
    const next = { ...changed, revision: catalog.revision + 1 }
    if (await store.replaceCatalog(next)) return next
  }
  throw new Error('The catalog of the read models changes all the time.')
}

export function catalogIn(text: string | undefined): Catalog {
  return text === undefined ? emptyCatalog : Catalog.parse(JSON.parse(text))
}
