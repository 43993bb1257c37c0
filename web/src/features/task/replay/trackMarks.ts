/** Labels for the time axis of the replay: starts of turns, times in between, and lengths of breaks. Pure. */
import type { Marker } from '#domain/history/markers.ts'
import { timeAt, type Idle, type TimeAxis } from '#domain/history/timeAxis.ts'

export interface Placed {
  readonly marker: Marker
  /** The position in percent of the width. */
  readonly percent: number
}

/** Keeps each item that is at least `gap` percent of the width after the last kept item, and leaves the other items out. */
export function spread<Item extends { readonly percent: number }>(
  placed: readonly Item[],
  gap: number,
): readonly Item[] {
  let last = -Infinity
  return placed.filter(({ percent }) => {
    const hasRoom = percent - last >= gap
    if (hasRoom) last = percent
    return hasRoom
  })
}

interface ClockMark {
  readonly percent: number
  /** The time in milliseconds since 1970. */
  readonly time: number
  /** The turn that starts at this time; `null` when no turn starts then. */
  readonly turn: Marker | null
}

/** The number of evenly spaced places at which a label for a time between turns may be. */
const places = 12

/** The labels of times: at turns that have room, and between them. A label needs `gap` percent of the width to its right. */
export function clockMarks(axis: TimeAxis, turns: readonly Placed[], gap: number): readonly ClockMark[] {
  const timeOf = (percent: number) => timeAt(axis, (axis.length * percent) / 100)
  const marks: ClockMark[] = spread(turns, gap).map(({ percent, marker }) => ({
    percent,
    time: timeOf(percent),
    turn: marker,
  }))
  for (let place = 0; place < places; place += 1) {
    const percent = (100 * place) / places
    const hasRoom = percent + gap <= 100 && marks.every((mark) => Math.abs(mark.percent - percent) >= gap)
    if (hasRoom) marks.push({ percent, time: timeOf(percent), turn: null })
  }
  return marks.toSorted((a, b) => a.percent - b.percent)
}

/** The minimum length of a break that gets a label, in milliseconds. */
const namedMs = 60_000

/** The longest breaks that have enough room for their label, which needs `gap` percent of the width. */
export function namedBreaks(
  { idles, length }: TimeAxis,
  gap: number,
): readonly (Idle & { readonly percent: number })[] {
  const named: (Idle & { readonly percent: number })[] = []
  for (const idle of idles.filter(({ ms }) => ms >= namedMs).toSorted((a, b) => b.ms - a.ms)) {
    const percent = (50 * (idle.from + idle.to)) / length
    const isInside = percent >= gap / 2 && percent <= 100 - gap / 2
    if (isInside && named.every((other) => Math.abs(other.percent - percent) >= gap))
      named.push({ ...idle, percent })
  }
  return named
}
