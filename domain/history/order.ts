/**
 * The order of the events in a task's two streams (see docs/log-format.md): an event of the terminal comes after the task's event that it follows,
 * and before the task's next event.
 */
import {
  revisionOf,
  type HistoryItem,
  type PlacedItem,
  type TaskEventItem,
  type TerminalItem,
} from './item.ts'

/** Merges the items of the task's stream and of its terminal's stream. Both must already be sorted. */
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
 * Adds newer items at their places, and returns as `from` the first index that changed. An event of the terminal may belong before the end, because
 * its writer did not know the task's latest event yet.
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

/**
 * The name of the moment of an event, such as `12` in the task's stream or `t12` in the terminal's. It is made from the revision, so it stays valid
 * when the log is moved to another event store.
 */
export function momentOf(item: PlacedItem): string {
  return item.kind === 'event' ? `${item.event.revision}` : `t${revisionOf(item)}`
}

/** The name of a moment between events, such as `46+12s` for 12 seconds after the event named `46`. Within the first second it is `46`. */
export function momentAfter(event: string, ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return seconds < 1 ? event : `${event}+${seconds}s`
}

const named = /^(t?)(\d{1,15})(?:\+(\d{1,9})s)?$/

/** The milliseconds from the event in a moment's name to the moment. */
export function sinceEvent(moment: string): number {
  return 1_000 * Number(named.exec(moment)?.[3] ?? 0)
}

/** The index of the item for the event in the moment's name; `-1` when there is none, or when the name is invalid. */
export function indexOfMoment(items: readonly HistoryItem[], moment: string): number {
  const [, terminal, digits] = named.exec(moment) ?? []
  if (digits === undefined) return -1
  const revision = Number(digits)
  const isTerminal = terminal === 't'
  return items.findIndex((item) => (item.kind !== 'event') === isTerminal && revisionOf(item) === revision)
}
