/** The environment of everything that a test run starts. It is made here, so that no key or setting of the shell reaches a test. */

const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'CI', 'NODE_OPTIONS']

/**
 * @param {NodeJS.ProcessEnv} shell
 * @param {{ tally: string, notes: string }} files where the tests leave their results and their notes
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(shell, { tally, notes }) {
  const allowed = Object.entries(shell).filter(
    ([name]) => passedOn.includes(name) || name.startsWith('REQUIRE_'),
  )
  return { ...Object.fromEntries(allowed), FLIGHTDECK_TEST_TALLY: tally, FLIGHTDECK_TEST_NOTES: notes }
}
