/** Decides which runs are ended because the disk is nearly full, or because their own files are over the limit. Has no side effects. */

/**
 * Thresholds of free space, in bytes. Below `stop`, the run that grew most is ended; below `begin`, no run begins; below `end`, all runs are ended if
 * ending one does not help.
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
 * Whether a run must be ended because free space is below the floor. `settled` is the highest free space since a run was last ended for this reason.
 * If it is given, free space must have fallen by another tenth of the floor. Otherwise other runs would be blamed for files that the ended run left
 * on the disk.
 */
export function isFalling(free: number, floors: DiskFloors, settled: number | undefined): boolean {
  return free < (settled === undefined ? floors.stop : settled - floors.stop / 10)
}

/**
 * Whether all runs must be ended: free space is below `end`, and has fallen by a tenth of `stop` while one run is being ended. `from` is how many
 * bytes were free when the server began to end that run.
 */
export function isOutOfHand(free: number, floors: DiskFloors, from: number): boolean {
  return free < floors.end && free < from - floors.stop / 10
}

/**
 * Whether a run is over its limit, in bytes. `first` is the size at the first count of the run. If `first` was over the limit already, the run may
 * continue and write 1 MiB more, so that it can make the workspace smaller.
 */
export const isOver = (size: number, first: number, limit: number): boolean =>
  size > (first > limit ? first + 1024 ** 2 : limit)

/** The bytes of a run's files at the last count (`undefined`: never counted) and now (`undefined`: too many files to count in time). */
export interface RunSizes {
  readonly before: number | undefined
  readonly now: number | undefined
}

/**
 * The index of the run that grew most, or else of a run that could not be counted. `undefined` when no run grew by a hundredth of the floor, because
 * then something else fills the disk.
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
 * Whether a run may be over `limit` by now. Free space has fallen by `fallen` bytes since `sizes` were measured, so one run may have written that
 * much. Runs that were already over the limit do not matter here.
 */
export function mayBeOver(fallen: number, sizes: readonly (number | undefined)[], limit: number): boolean {
  const left = sizes.flatMap((size = 0) => (size < limit ? [limit - size] : []))
  return left.length > 0 && fallen >= Math.min(...left)
}
