/** Which runs end while the disk is nearly full. Pure. */

/**
 * Thresholds of free space, in bytes: below `stop` the run that grew most ends, below `begin` no run begins, and below `end` all runs end if ending
 * one does not help. So the space that is left does not depend on how many runs are tried.
 */
export interface DiskFloors {
  readonly stop: number
  readonly begin: number
  readonly end: number
}

export function floorsOf(leastFree: number): DiskFloors {
  return { stop: leastFree, begin: leastFree / 2, end: leastFree / 4 }
}

/**
 * Whether a run has to end: free space is below the floor and, if a run was ended for that before, has fallen by another tenth of the floor since
 * then (`settled`: what was free then). What that run left behind is not held against the others.
 */
export function isFalling(free: number, floors: DiskFloors, settled: number | undefined): boolean {
  return free < (settled === undefined ? floors.stop : settled - floors.stop / 10)
}

/** Whether all runs have to end: free space has fallen by a tenth of the floor although one is being ended, since when `from` was free. */
export function isOutOfHand(free: number, floors: DiskFloors, from: number): boolean {
  return free < floors.end && free < from - floors.stop / 10
}

/**
 * Whether a run is over its limit. One that was over it at its first count (`first`) goes on, so that it can be made smaller: the 1 MiB that it may
 * write when it begins does not count as growth. All in bytes.
 */
export const isOver = (size: number, first: number, limit: number): boolean =>
  size > (first > limit ? first + 1024 ** 2 : limit)

/** Bytes of a run's files: when they were last counted (`undefined`: never), and now (`undefined`: they are too many to be counted in time). */
export interface RunSizes {
  readonly before: number | undefined
  readonly now: number | undefined
}

/**
 * The index of the run that grew most, or else of one that could not be counted. `undefined` when none grew by a hundredth of the floor: then
 * something else takes up the disk.
 */
export function whoGrewMost(runs: readonly RunSizes[], floors: DiskFloors): number | undefined {
  const least = floors.stop / 100
  let most: { readonly index: number; readonly bytes: number } | undefined
  for (const [index, { before = 0, now }] of runs.entries()) {
    const bytes = now === undefined ? least : now - before
    if (bytes >= least && bytes > (most?.bytes ?? 0)) most = { index, bytes }
  }
  return most?.index
}

/**
 * Whether a run may be over its limit by now: free space has fallen by as much as some run had left at its last count. Runs that are over the limit
 * already are only counted by the clock.
 */
export function mayBeOver(fallen: number, sizes: readonly (number | undefined)[], limit: number): boolean {
  const left = sizes.flatMap((size = 0) => (size < limit ? [limit - size] : []))
  return left.length > 0 && fallen >= Math.min(...left)
}
