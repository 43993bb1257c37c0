/** Whether a curve is flat: how much it grows in its second half. */
import { median } from '../statistics.ts'

interface Point {
  readonly minute: number
  readonly value: number
}

export interface Trend {
  /** The value of the trend at the middle of the curve's time, and at its end. */
  readonly halfWay: number
  readonly end: number
  /** How much the trend changes from the middle to the end, as a share of its level. */
  readonly growth: number
  readonly isFlat: boolean
}

/** A curve that changes by less than this share of its level in half of the time counts as flat. */
const flatWithin = 0.1

/**
 * The trend of the second half: the median slope of all pairs of its points (Theil and Sen), which a part that was just started again does not bend.
 * Throws `RangeError` for a curve with fewer than four points.
 */
export function trendOf(points: readonly Point[]): Trend {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || points.length < 4)
    throw new RangeError('A trend needs four points.')
  const middle = (first.minute + last.minute) / 2
  const half = points.filter(({ minute }) => minute >= middle)
  const slopes = half.flatMap((one, index) =>
    half.slice(index + 1).map((other) => (other.value - one.value) / (other.minute - one.minute)),
  )
  const slope = median(slopes)
  const level = median(half.map(({ value, minute }) => value - slope * (minute - middle)))
  const halfWay = level
  const end = level + slope * (last.minute - middle)
  const growth = level === 0 ? 0 : (end - halfWay) / Math.abs(level)
  return { halfWay, end, growth, isFlat: Math.abs(growth) <= flatWithin }
}
