/**
 * Puts the items of one stream in order, each once. Versions count without gaps, so what is missing is known: items
 * ahead of a gap are held, what was let through already is dropped. Pure.
 */

export interface Versioned {
  /** Revision in its stream. */
  readonly version: number
}

export interface Sequencer<Item extends Versioned> {
  /** The last version let through or covered by a snapshot; `null` until there is a snapshot, and all is held. */
  readonly at: number | null
  readonly held: ReadonlyMap<number, Item>
}

export interface Received<Item extends Versioned> {
  readonly sequencer: Sequencer<Item>
  /** What may be shown now, in order. */
  readonly ready: readonly Item[]
  /** Something before a held item is missing. */
  readonly gap: boolean
}

/** More than this is not waited for: a snapshot is taken instead. */
export const heldAtMost = 10_000

/** Before the snapshot: everything is held. */
export function unsequenced<Item extends Versioned>(): Sequencer<Item> {
  return { at: null, held: new Map() }
}

/** Takes items in whatever order, as often as they come. */
export function receive<Item extends Versioned>(
  { at, held }: Sequencer<Item>,
  items: readonly Item[],
): Received<Item> {
  const waiting = new Map(held)
  for (const item of items) {
    if (at === null || item.version > at) waiting.set(item.version, item)
  }
  return release(at, waiting)
}

/** A snapshot covers everything up to `version`; what it does not cover and is contiguous comes out. */
export function cover<Item extends Versioned>(
  { at, held }: Sequencer<Item>,
  version: number,
): Received<Item> {
  const reached = at === null ? version : Math.max(at, version)
  return release(reached, new Map([...held].filter(([held]) => held > reached)))
}

function release<Item extends Versioned>(at: number | null, waiting: Map<number, Item>): Received<Item> {
  if (at === null) return { sequencer: { at, held: waiting }, ready: [], gap: waiting.size > heldAtMost }
  const ready: Item[] = []
  let reached = at
  for (let next = waiting.get(reached + 1); next !== undefined; next = waiting.get(reached + 1)) {
    ready.push(next)
    reached += 1
    waiting.delete(reached)
  }
  return { sequencer: { at: reached, held: waiting }, ready, gap: waiting.size > 0 }
}
