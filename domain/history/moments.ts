/** The names of moments in a task's history, which stand in addresses. */
import { revisionOf, type HistoryItem, type PlacedItem } from './item.ts'

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
