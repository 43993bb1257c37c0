/**
 * Read models: JSON documents that can be thrown away and folded again from the log. Held by
 * `tests/contracts/readStore.spec.ts`. No transaction is promised: documents first, checkpoint last, and
 * every write that is older than what is stored is a no-op, so that a batch may be applied twice.
 *
 * A collection is read under its own name and stored as a generation: the catalog says which one is live. Reads of a served collection
 * that has none throw `NotFolded`. A name that is not served is taken as it is, and so is that of a generation.
 */
import type { Position } from '#domain/kernel/event.ts'
import type { LogIdentity } from '#domain/log.ts'

/** A document: plain JSON with an `id` that is unique in its collection. */
export type Document = { readonly id: string } & Readonly<Record<string, unknown>>

/** A collection and the fields that it is searched and sorted by. Each index is equality fields, then the sort field. */
export interface Collection {
  readonly name: string
  readonly indexes: readonly (readonly string[])[]
}

/** A write; `position` is the last event folded into it. A removed document is remembered by its position, so that an older put stays a no-op. */
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
   * All of these hold. The fields (dots lead into objects) have plain values, no lists; a list here means any of it, and
   * `null` a field that is null or missing.
   */
  readonly where: Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>
  /**
   * The field to sort by; ties are broken by `id` in the same direction. Values of one field are all of one type, and a
   * field that is sorted by is in every document and never null. Text orders by code point.
   */
  readonly sort: { readonly field: string; readonly direction: 'ascending' | 'descending' }
  readonly limit: number
  /** Only what comes after this place in the sort order. */
  readonly after?: { readonly value: string | number; readonly id: string }
}

/** One build of a collection: the name it is stored under, and the version of the view that folded it. */
export interface Generation {
  readonly name: string
  readonly version: number
}

/** A rebuild under way: its generations by collection, and its progress. */
export interface Build {
  readonly generations: Readonly<Record<string, Generation>>
  readonly begunAt: string
  /** Events folded so far. */
  readonly events: number
  /** The position reached, and the end of the log when it began; `null` for none. */
  readonly position: Position | null
  readonly head: Position | null
}

/** The state of all read models. A writer names the catalog it read by `revision`. */
export interface Catalog {
  readonly revision: number
  /** The log that the documents were folded from; `null` before there are any. */
  readonly log: LogIdentity | null
  /** The number of the last generation that was begun; numbers are never reused. */
  readonly last: number
  /** The generation that readers get, by collection. */
  readonly live: Readonly<Record<string, Generation>>
  readonly building: Build | null
  /** Collections that an operator wants rebuilt. */
  readonly wanted: readonly string[]
}

export const emptyCatalog: Catalog = {
  revision: 0,
  log: null,
  last: 0,
  live: {},
  building: null,
  wanted: [],
}

/** A collection that is read through the catalog only, and its oldest readable version. */
export interface Served {
  readonly collection: string
  readonly readsFrom: number
}

/** A separate store that documents are folded into, without blocking others, until they land in collections that nobody reads yet. */
export interface Aside extends Pick<ReadStore, 'prepare' | 'apply' | 'getMany' | 'find'> {
  /** Copies everything to the prepared collections of the same names, yielding to other writers; newer documents there stay. */
  land(collections: readonly string[], signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}

export interface ReadStore {
  /** The current catalog; `emptyCatalog` before the first. */
  catalog(): Promise<Catalog>
  /** Replaces the catalog of the previous revision in one atomic write; false when another writer was faster. */
  replaceCatalog(next: Catalog): Promise<boolean>
  /** Creates missing collections and indexes. */
  prepare(collections: readonly Collection[]): Promise<void>
  /**
   * Applies the changes in order, then moves the checkpoint of `projection`, where one is given; it never goes back. A change at
   * the very position that is stored is applied, so that one event may change a document twice.
   */
  apply(
    changes: readonly Change[],
    checkpoint: { projection: string; position: Position } | null,
  ): Promise<void>
  checkpoint(projection: string): Promise<Position | null>
  get(collection: string, id: string): Promise<Document | undefined>
  /** The documents that exist, by id. */
  getMany(collection: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>
  find(collection: string, query: Find): Promise<readonly Document[]>
  count(collection: string, where: Find['where']): Promise<number>
  /** Forgets the checkpoint. */
  forget(projection: string): Promise<void>
  /** The names of all generations that are stored, also of those that no catalog tells of. */
  generations(): Promise<readonly string[]>
  /** Drops collections, yielding to other writers; a missing collection is not a fault. */
  drop(collections: readonly string[], signal?: AbortSignal): Promise<void>
  /** A separate empty store, for one of several parallel folds. */
  aside(part: number): Promise<Aside>
  /** Removes what asides left that were never closed, as after a kill. To be called while none is open. */
  removeAsides(): Promise<void>
  /** What was removed or replaced before this call lies in no file of the store any more: neither in free pages nor in a log of writes. */
  scrub(): Promise<void>
  ready(): Promise<void>
  close(): Promise<void>
}
