/**
 * Delivers the items of one stream in order, each once. Versions count without gaps, so missing items are detected: items after a gap are held, and
 * items already delivered are dropped. Pure.
 */

export interface Versioned {
  /** The item's revision in its stream. */
  readonly version: number
}

export interface Sequencer<Item extends Versioned> {
  /** The version of the last item that was delivered or is covered by a snapshot; `null` before the first snapshot, when all items are held. */
  readonly at: number | null
  readonly held: ReadonlyMap<number, Item>
}

export interface Received<Item extends Versioned> {
  readonly sequencer: Sequencer<Item>
  /** The items to deliver now, in order. */
  readonly ready: readonly Item[]
  /** Whether an item before a held item is missing or, before the first snapshot, whether too many items are held. */
  readonly gap: boolean
}

/** The most items to hold before the first snapshot. More count as a gap, so that a new snapshot is read. */
const maxHeld = 10_000

/** The state before the first snapshot: all items are held. */
export function unsequenced<Item extends Versioned>(): Sequencer<Item> {
  return { at: null, held: new Map() }
}

/** Takes items in any order, also repeated ones. Returns the items that can be delivered now. */
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

/** Applies a snapshot that covers everything up to `version`; returns the held items that directly follow it. */
export function cover<Item extends Versioned>(
  { at, held }: Sequencer<Item>,
  version: number,
): Received<Item> {
  const reached = at === null ? version : Math.max(at, version)
  return release(reached, new Map([...held].filter(([held]) => held > reached)))
}

function release<Item extends Versioned>(at: number | null, waiting: Map<number, Item>): Received<Item> {
  if (at === null) return { sequencer: { at, held: waiting }, ready: [], gap: waiting.size > maxHeld }
  const ready: Item[] = []
  let reached = at
  for (let next = waiting.get(reached + 1); next !== undefined; next = waiting.get(reached + 1)) {
    ready.push(next)
    reached += 1
    waiting.delete(reached)
  }
  return { sequencer: { at: reached, held: waiting }, ready, gap: waiting.size > 0 }
}
