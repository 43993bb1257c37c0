/** The time of a history as it is played: real time, with idle stretches squeezed. Positions on the axis are in ms from its beginning. */

/** Nothing happening for longer than this is idle, in ms. */
export const idleMs = 5_000
/** What an idle stretch takes on the axis, in ms. */
export const squeezedMs = 2_000

export interface Idle {
  /** Positions on the axis. */
  readonly from: number
  readonly to: number
  /** How long it was, in ms. */
  readonly ms: number
}

export interface TimeAxis {
  /** When each event happened, in ms since the epoch; never falling. */
  readonly times: Float64Array
  /** The position of each event. */
  readonly positions: Float64Array
  readonly length: number
  readonly idles: readonly Idle[]
}

/** The axis of events at these times (ms since the epoch); one that is earlier than the one before counts as at the same time. */
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

/** The last event at or before a position; `-1` when there is none. */
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

/** The time at a position, in ms since the epoch; within an idle stretch it runs faster. */
export function timeAt(axis: TimeAxis, position: number): number {
  const index = indexAt(axis, position)
  const { times, positions } = axis
  const [from, to] = [positions[index] ?? 0, positions[index + 1]]
  const time = times[index] ?? times[0] ?? 0
  const next = times[index + 1]
  if (to === undefined || next === undefined || to === from) return time + Math.max(0, position - from)
  return time + ((position - from) / (to - from)) * (next - time)
}

/** The position so many ms after an event; of times that lie beyond the next event, the last before it. */
export function positionAfter({ times, positions }: TimeAxis, index: number, ms: number): number {
  const [from, to] = [positions[index] ?? 0, positions[index + 1]]
  const stretch = (times[index + 1] ?? 0) - (times[index] ?? 0)
  if (to === undefined || stretch <= 0) return from
  return from + ((to - from) * Math.max(0, Math.min(ms, stretch - 1))) / stretch
}

/** How many events there are in each of `buckets` equal parts of the axis. */
export function densityOf({ positions, length }: TimeAxis, buckets: number): readonly number[] {
  const counts = Array.from({ length: buckets }, () => 0)
  for (const position of positions) {
    const bucket = length === 0 ? 0 : Math.min(buckets - 1, Math.floor((position / length) * buckets))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return counts
}
