/** Builds new generations of read models: folds the log into collections that nobody reads yet. The projector then makes these live. */
import type { Position } from '#domain/kernel/event.ts'
import { views } from '#domain/views/registry.ts'
import type { Engines } from '#platform/compose.ts'
import { wantedBy } from '#platform/reads/documents.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { auxiliaryCollections, openFold, placed } from './fold.ts'

export type RebuildEngines = Pick<Engines, 'eventStore' | 'readStore' | 'log' | 'logger'>

/**
 * A part of a rebuild. `names` has the name of the new generation for each collection. The streams are divided into `of` parts, of which this is part
 * `index`.
 */
export interface Part {
  readonly names: Readonly<Record<string, string>>
  readonly index: number
  readonly of: number
}

/** The progress of a part: how many events were folded, and the position of the last folded event. */
export interface Progress {
  readonly events: number
  readonly position: Position | null
}

/** A piece of work for a thread: folding a part, or dropping collections. */
export type Work =
  | { readonly kind: 'fold'; readonly part: Part }
  | { readonly kind: 'drop'; readonly collections: readonly string[] }

/** Does a piece of work, until it is done or the signal aborts it. For `fold`, returns the position up to which the part is complete. */
export type DoWork = (
  work: Work,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<Position | null>

/**
 * The number of events in a batch. A batch writes each changed document once, so smaller batches need more writes, and larger batches need more
 * memory.
 */
const batch = 2000

/** A `DoWork` that does the work in this thread, with the given engines. */
export function folding(engines: RebuildEngines): DoWork {
  return async (work, tell, signal) => {
    if (work.kind === 'fold') return foldPart(engines, work.part, tell, signal)
    await engines.readStore.drop(work.collections, signal)
    return null
  }
}

async function foldPart(
  { eventStore, readStore, log, logger }: RebuildEngines,
  { names, index, of }: Part,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Position | null> {
  const made = views.flatMap((view) => {
    const name = names[view.collection]
    return name === undefined ? [] : [placed(view, name)]
  })
  const wanted = { ...wantedBy(made), ...(of > 1 && { part: { index, of } }) }
  let after: Position | null = null
  let events = 0

  /** Folds events into `store` until it has reached the end of the log. Returns the position of this end, up to which all events were folded. */
  async function foldInto(store: Pick<ReadStore, 'apply' | 'getMany' | 'find'>): Promise<Position | null> {
    const fold = await openFold(made, { store, log, logger })
    for (let end: Position | null | undefined; ;) {
      signal.throwIfAborted()
      const stored = await eventStore.readAll(after, batch, wanted)
      await fold.fold(stored, null)
      after = stored.at(-1)?.position ?? after
      events += stored.length
      tell({ events, position: after })
      if (stored.length === batch) continue
      // `end` was read before this round, so all events up to it have been folded by now.
      if (end !== undefined) return end
      end = await eventStore.head()
    }
  }

  const aside = await readStore.aside(index)
  try {
    await aside.prepare([
      ...auxiliaryCollections,
      // The fold needs only the first index, for `goneWith`. The collections to which the documents are copied get all indexes.
      ...made.map(({ collection, indexes, goneWith }) => ({
        name: collection,
        indexes: goneWith ? indexes.slice(0, 1) : [],
      })),
    ])
    await foldInto(aside)
    await aside.land(
      [...made.map(({ collection }) => collection), ...auxiliaryCollections.map(({ name }) => name)],
      signal,
    )
  } finally {
    await aside.close()
  }
  // Folds the events that were recorded during the copying.
  return foldInto(readStore)
}
