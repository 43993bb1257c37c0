/**
 * The order of the events in a task's two streams (see docs/log-format.md): an event of the terminal comes after the task's event that it follows,
 * and before the task's next event.
 */
import type { HistoryItem, TaskEventItem, TerminalItem } from './item.ts'

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
