/** Results of a test run: added up, and put into the lines that end it. */

/**
 * @typedef {object} Results
 * @property {number} passed
 * @property {number} failed
 * @property {readonly { name: string, reason: string }[]} skipped
 */

/** @type {Results} */
export const nothing = { passed: 0, failed: 0, skipped: [] }

/**
 * A stage that is one check.
 * @param {boolean} ok
 * @returns {Results}
 */
export function oneCheck(ok) {
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [] }
}

/**
 * What a suite did, from the tally that it left. A run that failed counts as a failure also where no test did, or no tally is there.
 * @param {string | undefined} tally JSON, as tests/report/tally.ts writes it
 * @param {boolean} ok whether the run itself succeeded
 * @returns {Results}
 */
export function suiteResults(tally, ok) {
  /** @type {Results} */
  const { passed, failed, skipped } = tally === undefined ? nothing : JSON.parse(tally)
  return { passed, failed: failed === 0 && !ok ? 1 : failed, skipped }
}

/**
 * @param {readonly Results[]} all
 * @returns {Results}
 */
export function sum(all) {
  return {
    passed: all.reduce((total, { passed }) => total + passed, 0),
    failed: all.reduce((total, { failed }) => total + failed, 0),
    skipped: all.flatMap(({ skipped }) => skipped),
  }
}

/**
 * The end of the report: every skipped test with its reason, what ran against a stand-in, and the totals as the last line.
 * @param {Results} results
 * @param {string} notes JSON lines, as tests/report/notes.ts writes them
 * @returns {string[]}
 */
export function closingLines({ passed, failed, skipped }, notes) {
  return [
    ...inOrder(skipped.map(({ name, reason }) => `skipped: ${name} (${reason})`)),
    ...inOrder(
      notes
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
        .map(({ what, against }) => `${what}: ${against}`),
    ),
    `${passed} passed, ${failed} failed, ${skipped.length} skipped`,
  ]
}

/** @param {readonly string[]} lines */
function inOrder(lines) {
  return [...new Set(lines)].sort()
}
