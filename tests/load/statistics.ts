/** Figures out of measurements. */

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

/** Medians of a figure and its floor, measured in turn, so that what else the machine does falls on both. */
export async function alternate(
  rounds: number,
  measure: { readonly figure: () => Promise<number>; readonly floor: () => Promise<number> },
): Promise<{ readonly figure: number; readonly floor: number }> {
  const figures: number[] = []
  const floors: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await measure.floor())
    figures.push(await measure.figure())
  }
  return { figure: median(figures), floor: median(floors) }
}
