/** Builds generations of read models: folds the log into collections that nobody reads yet. The projector then makes them live. */
import type { Position } from '#domain/kernel/event.ts'
import { views } from '#domain/views/registry.ts'
import type { Engines } from '#platform/compose.ts'
import { wantedBy } from '#platform/reads/documents.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { besides, openFold, placed } from './fold.ts'

export type RebuildEngines = Pick<Engines, 'eventStore' | 'readStore' | 'log' | 'logger'>

/** What to fold: for each collection the name of its generation, and which part of the streams, of how many parts. */
export interface Part {
  readonly names: Readonly<Record<string, string>>
  readonly index: number
  readonly of: number
}

/** The progress of a part. */
export interface Progress {
  readonly events: number
  readonly position: Position | null
}

/** A piece of work for a thread. */
export type Work =
  | { readonly kind: 'fold'; readonly part: Part }
  | { readonly kind: 'drop'; readonly collections: readonly string[] }

/** Does a piece of work; the signal aborts it. Folding returns the position up to which the part is complete. */
export type DoWork = (
  work: Work,
  tell: (progress: Progress) => void,
  signal: AbortSignal,
) => Promise<Position | null>

/**
 * The number of events folded at once. Each batch writes every document that it changes once: smaller batches need more writes, larger ones more
 * memory.
 */
const batch = 2000

/** Does the work with the given engines. */
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

  /** Folds events into the store until no more come. Returns an end of the log up to which everything is folded. */
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
      // If nothing more comes, everything up to the end that was read before has been folded.
      if (end !== undefined) return end
      end = await eventStore.head()
    }
  }

  const aside = await readStore.aside(index)
  try {
    await aside.prepare([
      ...besides,
      // Indexes for reading pages are only created in the collections to which the documents are copied.
      ...made.map(({ collection, indexes, goneWith }) => ({
        name: collection,
        indexes: goneWith ? indexes.slice(0, 1) : [],
      })),
    ])
    await foldInto(aside)
    await aside.land(
      [...made.map(({ collection }) => collection), ...besides.map(({ name }) => name)],
      signal,
    )
  } finally {
    await aside.close()
  }
  // Folds the events that have arrived since.
  return foldInto(readStore)
}
