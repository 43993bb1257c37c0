/** Chooses the steps at which to kill. */

/** A step counts as repeated if one of the last four was of the same kind: tables are filled and removed in turn. */
const near = 4
const everyAlike = 10

/** The numbers of the chosen steps, from 1: all that differ from those before them, and every tenth of repeated ones. */
export function pointsOf(steps: readonly string[]): readonly number[] {
  return steps.flatMap((kind, index) => {
    const before = steps.slice(Math.max(0, index - near), index)
    return before.includes(kind) && index % everyAlike !== 0 ? [] : [index + 1]
  })
}
