/** How much more `npm run test:long` tries than `npm test` has time for. */

/** Whether this is a run of `npm run test:long`. */
export const isLongRun = process.env['FLIGHTDECK_TEST_LONG'] === '1'

/** The first of the cases, and all of them in a long run. */
export const firstCases = <Case>(cases: readonly Case[], count: number): readonly Case[] =>
  isLongRun ? cases : cases.slice(0, count)

/** How many random cases a property is tried with: all of them in a long run, and a quarter of them otherwise. */
export const randomRuns = (inLongRun: number): number => (isLongRun ? inLongRun : Math.ceil(inLongRun / 4))
