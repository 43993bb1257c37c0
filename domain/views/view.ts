/** A view folds events into documents. The server, the live client and a replay use the same functions. */
import type { DomainEvent } from '../events.ts'
import type { Position, RecordedOf, UnreadableReason } from '../kernel/event.ts'
import { parseStream, type StreamKind } from '../kernel/streams.ts'

export type AnyRecorded = RecordedOf<DomainEvent>

/** A document is folded from one stream, so the order between streams does not matter. `version` is the revision of the last event that it contains. */
export interface ViewDocument {
  readonly id: string
  readonly position: Position
  readonly version: number
}

/** A field that names the owner of documents, and its value, for removing all documents of that owner. */
export interface Belonging {
  readonly field: string
  readonly value: string
}

export function belongs(document: ViewDocument, { field, value }: Belonging): boolean {
  return Object.entries(document).some(([name, held]) => name === field && held === value)
}

/** The first unreadable event of a task's stream or of its terminal's, and the reason. */
export interface Flaw {
  readonly stream: 'task' | 'terminal'
  readonly revision: number
  readonly reason: UnreadableReason
}

export interface View<D extends ViewDocument> {
  readonly collection: string
  /** Increased when the same events would give different documents; all documents are then rebuilt. */
  readonly version: number
  /** The oldest version whose documents may still be read, and folded further, during a rebuild. Defaults to `version`. */
  readonly readsFrom?: number
  /** The kinds of streams that the view is folded from, and the event types that it needs; all types by default. */
  readonly streams: readonly StreamKind[]
  readonly types?: readonly AnyRecorded['type'][]
  /** Each index: the fields that are compared for equality, followed by the field to sort by. */
  readonly indexes: readonly (readonly string[])[]
  /** The ids of the documents that the event may change. */
  touches(event: AnyRecorded): readonly string[]
  /** How to find, by the first index, the documents of an owner, for an event that removes all of them. */
  goneWith?(event: AnyRecorded): Belonging | undefined
  /** Marks the document of a stream that can no longer be read. Left out by views whose documents do not show that. */
  flawed?(document: D, flaw: Flaw): D
  /** The document after the event; `undefined` when there is none. Accepts events whose content was erased. */
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

/** The `touches` of a view with one document per stream of a kind: every event, or every event of the given types, changes that document. */
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
