/** Folds for tests: into the state of a decider, and into a view's documents in the way the projector, clients and replays fold them. */
import type { Decider } from '#domain/kernel/decider.ts'
import type { AnyEvent, RecordedOf } from '#domain/kernel/event.ts'
import { belongs, project, type AnyRecorded, type View, type ViewDocument } from '#domain/views/view.ts'

/** Folds events in order. `fold(all)` equals `fold(rest, fold(some))`, so a fold can start from a snapshot. */
export function fold<State, Command, E extends AnyEvent>(
  decider: Decider<State, Command, E>,
  events: readonly RecordedOf<E>[],
  from: State = decider.initial,
): State {
  return events.reduce((state, event) => decider.evolve(state, event), from)
}

/** Folds events into a set of documents. */
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
