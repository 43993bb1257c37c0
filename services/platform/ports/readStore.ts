/**
 * Read models: JSON documents that can be thrown away and folded again from the log. Held by
 * `tests/contracts/readStore.spec.ts`. No transaction is promised: documents first, checkpoint last, and
 * every write that is older than what is stored is a no-op, so that a batch may be applied twice.
 */
import type { Position } from '#domain/kernel/event.ts'

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

export interface ReadStore {
  /** Makes the collections and their indexes where they are missing. */
  prepare(collections: readonly Collection[]): Promise<void>
  /**
   * Applies the changes in order, then moves the checkpoint of `projection`; the checkpoint never goes back. A change at
   * the very position that is stored is applied, so that one event may change a document twice.
   */
  apply(changes: readonly Change[], checkpoint: { projection: string; position: Position }): Promise<void>
  checkpoint(projection: string): Promise<Position | null>
  get(collection: string, id: string): Promise<Document | undefined>
  /** The documents that exist, by id. */
  getMany(collection: string, ids: readonly string[]): Promise<ReadonlyMap<string, Document>>
  find(collection: string, query: Find): Promise<readonly Document[]>
  count(collection: string, where: Find['where']): Promise<number>
  /** Forgets the documents of these collections, what was removed from them, and the checkpoint: the start of a rebuild. */
  reset(projection: string, collections: readonly string[]): Promise<void>
  /** What was removed or replaced before this call lies in no file of the store any more: neither in free pages nor in a log of writes. */
  scrub(): Promise<void>
  ready(): Promise<void>
  close(): Promise<void>
}
