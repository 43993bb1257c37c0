/** At which of many steps to kill. */

/** Kinds of which one among the last four is the same are alike: tables that are filled and removed in turn. */
const near = 4
const everyAlike = 10

/** The numbers of the steps, from 1: all that differ from those before them, and of those that are alike each tenth. */
export function pointsOf(steps: readonly string[]): readonly number[] {
  return steps.flatMap((kind, index) => {
    const before = steps.slice(Math.max(0, index - near), index)
    return before.includes(kind) && index % everyAlike !== 0 ? [] : [index + 1]
  })
}
