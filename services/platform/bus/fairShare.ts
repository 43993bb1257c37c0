/** How the places of a worker are shared between persons. Pure. */

/**
 * How many of so many places one person may have at once. A quarter, one at least, is left to others, since what runs may go on for hours
 * and is not stopped for anybody; where there is one place there is nothing to share.
 */
export function placesOfOne(concurrency: number): number {
  return Math.max(1, concurrency - Math.max(1, Math.floor(concurrency / 4)))
}
