/** A view is a set of functions that fold events into documents. The server, the live client and a replay use the same views. */
import type { DomainEvent } from '../events.ts'
import type { Position, RecordedOf, UnreadableReason } from '../kernel/event.ts'
import { parseStream, type StreamKind } from '../kernel/streams.ts'

export type AnyRecorded = RecordedOf<DomainEvent>

/** A document is folded from the events of one stream. `version` is the revision of the last event that was folded into it. */
export interface ViewDocument {
  readonly id: string
  readonly position: Position
  readonly version: number
}

/** A field of documents and its value, to find all documents that belong to one owner, such as a task. */
export interface Belonging {
  readonly field: string
  readonly value: string
}

export function belongs(document: ViewDocument, { field, value }: Belonging): boolean {
  return Object.entries(document).some(([name, held]) => name === field && held === value)
}

/** The first unreadable event in a task's stream or in its terminal's stream, and why it is unreadable. */
export interface Flaw {
  readonly stream: 'task' | 'terminal'
  readonly revision: number
  readonly reason: UnreadableReason
}

export interface View<D extends ViewDocument> {
  readonly collection: string
  /** Must be increased when the same events would give different documents. All documents are then rebuilt. */
  readonly version: number
  /** Until a rebuild is done, documents of this version or a later version may be read and changed by events. Defaults to `version`. */
  readonly readsFrom?: number
  /** The kinds of streams from which the view is folded. */
  readonly streams: readonly StreamKind[]
  /** The types of the events that change documents. By default, events of all types do. */
  readonly types?: readonly AnyRecorded['type'][]
  /** The indexes of the collection: the fields that queries compare with a value, and last the field by which they sort. */
  readonly indexes: readonly (readonly string[])[]
  /** The ids of the documents that the event may change. */
  touches(event: AnyRecorded): readonly string[]
  /** For an event that removes all documents of an owner: the field and value by which they are found. The first index must begin with the field. */
  goneWith?(event: AnyRecorded): Belonging | undefined
  /** Marks the document of a damaged stream. Views whose documents do not show damage leave this out. */
  flawed?(document: D, flaw: Flaw): D
  /** The document after the event; `undefined` when the document does not exist or no longer exists. Accepts events whose content was erased. */
  evolve(document: D | undefined, event: AnyRecorded, id: string): D | undefined
}

/** `evolve`, but safe to repeat: an event that the document already contains changes nothing. */
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

/** `touches` for a view with one document per stream of `kind`. Each event, or each event of `types`, changes the document of its stream. */
export function ownDocument(
  kind: StreamKind,
  types?: View<ViewDocument>['types'],
): View<ViewDocument>['touches'] {
  return ({ stream: name, type }) => {
    const stream = parseStream(name)
    return stream.kind === kind && types?.includes(type) !== false ? [stream.id] : []
  }
}

export function isOneOf<Type extends AnyRecorded['type']>(
  types: readonly Type[],
  event: AnyRecorded,
): event is Extract<AnyRecorded, { type: Type }> {
  return types.some((type) => type === event.type)
}
