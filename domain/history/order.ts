/**
 * The order of a task's two streams (docs/log-format.md): an event of the terminal comes after the task's event that it follows, and before
 * the next.
 */
import {
  revisionOf,
  type HistoryItem,
  type PlacedItem,
  type TaskEventItem,
  type TerminalItem,
} from './item.ts'

/** Both streams in one order; each comes in the order of its own. */
export function merged(
  events: readonly TaskEventItem[],
  terminal: readonly TerminalItem[],
): readonly HistoryItem[] {
  const items: HistoryItem[] = []
  let next = 0
  for (const item of terminal) {
    for (let event = events[next]; event && event.event.revision <= item.follows; event = events[next]) {
      items.push(event)
      next += 1
    }
    items.push(item)
  }
  items.push(...events.slice(next))
  return items
}

/**
 * Items with newer ones put in their places, and the first place that changed. An event of the terminal may follow an event before the last:
 * its writer did not know of the last one yet.
 */
export function withNewer(
  items: readonly HistoryItem[],
  newer: readonly HistoryItem[],
): { readonly items: readonly HistoryItem[]; readonly from: number } {
  const all = [...items]
  let from = items.length
  for (const item of newer) {
    let at = all.length
    if (item.kind !== 'event') for (; at > 0 && comesAfter(all[at - 1], item.follows); at -= 1);
    if (at === all.length) all.push(item)
    else all.splice(at, 0, item)
    from = Math.min(from, at)
  }
  return { items: all, from }
}

function comesAfter(item: HistoryItem | undefined, follows: number): boolean {
  return item?.kind === 'event' && item.event.revision > follows
}

/** Names a moment by its event: `12` in the task's stream, `t12` in its terminal's. The name holds however the log is moved. */
export function momentOf(item: PlacedItem): string {
  return item.kind === 'event' ? `${item.event.revision}` : `t${revisionOf(item)}`
}

/** Names a moment between events by the one before and the whole seconds since it: `46+12s`; `46` within the first second. */
export function momentAfter(event: string, ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return seconds < 1 ? event : `${event}+${seconds}s`
}

const named = /^(t?)(\d{1,15})(?:\+(\d{1,9})s)?$/

/** How long a moment is after its event, in ms. */
export function sinceEvent(moment: string): number {
  return 1_000 * Number(named.exec(moment)?.[3] ?? 0)
}

/** Where the event of a moment is among the items; `-1` when it is not there, or the name is none. */
export function indexOfMoment(items: readonly HistoryItem[], moment: string): number {
  const [, terminal, digits] = named.exec(moment) ?? []
  if (digits === undefined) return -1
  const revision = Number(digits)
  const isTerminal = terminal === 't'
  return items.findIndex((item) => (item.kind !== 'event') === isTerminal && revisionOf(item) === revision)
}
