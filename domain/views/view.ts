/** A view: how events become documents. The server, the live client and the replay fold with the same functions. */
import type { DomainEvent } from '../events.ts'
import type { Position, RecordedOf, UnreadableReason } from '../kernel/event.ts'
import type { StreamKind } from '../kernel/streams.ts'

export type AnyRecorded = RecordedOf<DomainEvent>

/** Folded from one stream, so that the order between streams does not matter; `version` is the revision of the last event folded in. */
export interface ViewDocument {
  readonly id: string
  readonly position: Position
  readonly version: number
}

/** A field by which documents belong to something, and what they belong to. */
export interface Belonging {
  readonly field: string
  readonly value: string
}

export function belongs(document: ViewDocument, { field, value }: Belonging): boolean {
  return Object.entries(document).some(([name, held]) => name === field && held === value)
}

/** From which event on a stream cannot be read, and why. */
export interface Flaw {
  readonly revision: number
  readonly reason: UnreadableReason
}

export interface View<D extends ViewDocument> {
  readonly collection: string
  /** Counts up whenever the documents would come out otherwise than before: they are folded anew then. */
  readonly version: number
  /** The oldest version whose documents may be read, and folded on, while those of this one are made; this one when it is not given. */
  readonly readsFrom?: number
  /** The kinds of streams it is folded from, and the types of events there: all of them when they are not given. */
  readonly streams: readonly StreamKind[]
  readonly types?: readonly AnyRecorded['type'][]
  /** Equality fields, then the field that is sorted by. */
  readonly indexes: readonly (readonly string[])[]
  /** The ids of the documents that the event may change. */
  touches(event: AnyRecorded): readonly string[]
  /** Of an event that ends what documents belong to: by what all of them are found that go with it, in the first index. */
  goneWith?(event: AnyRecorded): Belonging | undefined
  /** The document of a stream that cannot be read on, with a note of it; missing where no document tells of that. */
  flawed?(document: D, flaw: Flaw): D
  /** The document after the event: `undefined` when there is none, or none any more. Accepts erased content. */
  evolve(document: D | undefined, event: AnyRecorded, id: string): D | undefined
}

/** `evolve` with the rule that makes folding safe to repeat: an event that the document has seen changes nothing. */
export function project<D extends ViewDocument>(
  view: View<D>,
  document: D | undefined,
  event: AnyRecorded,
  id: string,
): D | undefined {
  return document !== undefined && document.version >= event.revision
    ? document
    : view.evolve(document, event, id)
}

/** Folds events into a set of documents: what a client holds on screen and what a replay shows. */
export function foldView<D extends ViewDocument>(
  view: View<D>,
  documents: ReadonlyMap<string, D>,
  events: readonly AnyRecorded[],
): ReadonlyMap<string, D> {
  const folded = new Map(documents)
  for (const event of events) {
    const gone = view.goneWith?.(event)
    for (const [id, document] of folded) if (gone && belongs(document, gone)) folded.delete(id)
    for (const id of view.touches(event)) {
      const document = project(view, folded.get(id), event, id)
      if (document === undefined) folded.delete(id)
      else folded.set(id, document)
    }
  }
  return folded
}
