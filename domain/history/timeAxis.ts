/** The time axis of a replay: real time, with idle stretches shortened. Positions on the axis are in milliseconds from the beginning of the axis. */

/** A stretch without events is idle if it lasts longer than this, in milliseconds. */
export const idleMs = 5_000
/** The length of an idle stretch on the axis, in milliseconds. */
export const squeezedMs = 2_000

export interface Idle {
  readonly from: number
  readonly to: number
  /** The real duration, in milliseconds. */
  readonly ms: number
}

export interface TimeAxis {
  /** The time of each event, in ms since the epoch; times never decrease. */
  readonly times: Float64Array
  readonly positions: Float64Array
  readonly length: number
  readonly idles: readonly Idle[]
}

/** Builds the axis for events recorded at these times, in ms since the epoch. Clocks may go back: the axis then stays at the latest time so far. */
export function timeAxisOf(recorded: ArrayLike<number>): TimeAxis {
  const times = new Float64Array(recorded.length)
  const positions = new Float64Array(recorded.length)
  const idles: Idle[] = []
  let time = recorded[0] ?? 0
  let position = 0
  for (let index = 0; index < recorded.length; index += 1) {
    const next = Math.max(time, recorded[index] ?? time)
    const gap = next - time
    if (gap > idleMs) {
      idles.push({ from: position, to: position + squeezedMs, ms: gap })
      position += squeezedMs
    } else position += gap
    time = next
    times[index] = time
    positions[index] = position
  }
  return { times, positions, length: position, idles }
}

/** The index of the last event at or before a position; `-1` when there is no such event. */
export function indexAt({ positions }: TimeAxis, position: number): number {
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((positions[middle] ?? Infinity) <= position) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** The time at a position, in ms since the epoch; within an idle stretch, time runs faster. */
export function timeAt(axis: TimeAxis, position: number): number {
  const index = indexAt(axis, position)
  const { times, positions } = axis
  const [from, to] = [positions[index] ?? 0, positions[index + 1]]
  const time = times[index] ?? times[0] ?? 0
  const next = times[index + 1]
  if (to === undefined || next === undefined || to === from) return time + Math.max(0, position - from)
  return time + ((position - from) / (to - from)) * (next - time)
}

/** The position of the time `ms` milliseconds after an event, but before the next event. For the last event, it is the event's own position. */
export function positionAfter({ times, positions }: TimeAxis, index: number, ms: number): number {
  const [from, to] = [positions[index] ?? 0, positions[index + 1]]
  const stretch = (times[index + 1] ?? 0) - (times[index] ?? 0)
  if (to === undefined || stretch <= 0) return from
  return from + ((to - from) * Math.max(0, Math.min(ms, stretch - 1))) / stretch
}

/** The number of events in each of `buckets` equal parts of the axis. */
export function densityOf({ positions, length }: TimeAxis, buckets: number): readonly number[] {
  const counts = Array.from({ length: buckets }, () => 0)
  for (const position of positions) {
    const bucket = length === 0 ? 0 : Math.min(buckets - 1, Math.floor((position / length) * buckets))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts
}
