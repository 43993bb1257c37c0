/** Computes figures from measurements. */

/** The value that a share `p` (0 to 1) of the values does not exceed, by nearest rank. Throws `RangeError` when there are none. */
export function percentile(values: readonly number[], p: number): number {
  const ordered = [...values].sort((a, b) => a - b)
  const value = ordered[Math.max(0, Math.ceil(p * ordered.length) - 1)]
  if (value === undefined) throw new RangeError('Nothing was measured.')
  return value
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

export interface Measured {
  readonly figure: number
  readonly floor: number
}

interface Measuring<T = number> {
  readonly figure: () => Promise<T>
  readonly floor: () => Promise<T>
}

/** The best round of a rate and of its floor, because other work on the machine only ever makes a rate worse. */
export async function bestRates(rounds: number, measuring: Measuring): Promise<Measured> {
  const { figures, floors } = await alternating(rounds, measuring)
  return { figure: Math.max(...figures), floor: Math.max(...floors) }
}

/** The median of a time and of its floor. */
export async function medianTimes(rounds: number, measuring: Measuring): Promise<Measured> {
  const { figures, floors } = await alternating(rounds, measuring)
  return { figure: median(figures), floor: median(floors) }
}

/** Takes the rounds of the figure and of the floor in turn, so that other work on the machine affects both. */
export async function alternating<T>(rounds: number, { figure, floor }: Measuring<T>) {
  const figures: T[] = []
  const floors: T[] = []
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await floor())
    figures.push(await figure())
  }
  return { figures, floors }
}
