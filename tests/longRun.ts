/** What `npm run test:long` tries more of than `npm test` has the time for. */

/** Whether this is a run of `npm run test:long`. */
export const isLongRun = process.env['FLIGHTDECK_TEST_LONG'] === '1'

/** How many random cases a property is tried on: all of them in a long run, a quarter of them otherwise. */
export const randomRuns = (inLongRun: number): number => (isLongRun ? inLongRun : Math.ceil(inLongRun / 4))
