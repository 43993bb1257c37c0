/** Adds up the results of a test run, and writes the lines that end its report. */

/**
 * @typedef {object} Results
 * @property {number} passed
 * @property {readonly Named[]} failed
 * @property {readonly Named[]} skipped
 * @property {readonly PortCases[]} ports
 * @property {{ readonly refused: number, readonly cases: number }} attacks
 */

/** @typedef {{ readonly name: string, readonly reason: string }} Named a test or a check, and why it failed or was skipped */

/**
 * The results of a port's contract suite for one adapter, on one version of Node.
 * @typedef {object} PortCases
 * @property {string} suite `port: adapter`
 * @property {string} node version of Node
 * @property {number} passed
 * @property {number} cases
 */

/** @type {Results} */
export const nothing = { passed: 0, failed: [], skipped: [], ports: [], attacks: { refused: 0, cases: 0 } }

/**
 * The results of a stage that is a single check.
 * @param {string} name
 * @param {boolean} ok
 * @returns {Results}
 */
export function oneCheck(name, ok) {
  return ok ? { ...nothing, passed: 1 } : { ...nothing, failed: [{ name, reason: 'see above' }] }
}

/**
 * The results of a suite, from the tally that it left. A failed run counts as a failure even if no test failed or there is no tally.
 * @param {string | undefined} tally JSON, as tests/report/tally.ts writes it
 * @param {boolean} ok whether the run itself succeeded
 * @returns {Results}
 */
export function suiteResults(tally, ok) {
  /** @type {Results} */
  const results = tally === undefined ? nothing : JSON.parse(tally)
  const unexplained = { name: 'the run itself', reason: 'it failed, and none of its tests did' }
  return results.failed.length === 0 && !ok ? { ...results, failed: [unexplained] } : results
}

/**
 * @param {readonly Results[]} all
 * @returns {Results}
 */
export function sum(all) {
  return {
    passed: all.reduce((total, { passed }) => total + passed, 0),
    failed: all.flatMap(({ failed }) => failed),
    skipped: all.flatMap(({ skipped }) => skipped),
    ports: all.flatMap(({ ports }) => ports),
    attacks: {
      refused: all.reduce((total, { attacks }) => total + attacks.refused, 0),
      cases: all.reduce((total, { attacks }) => total + attacks.cases, 0),
    },
  }
}

/**
 * The end of the report: every skipped test with its reason; the cases of each port and adapter, with the engine behind the adapter; what else ran
 * against a stand-in; every failure, because a long log hides them; and the totals as the last line.
 * @param {Results} results
 * @param {string} notes JSON lines, as tests/report/notes.ts writes them
 * @returns {string[]}
 */
export function closingLines({ passed, failed, skipped, ports, attacks }, notes) {
  /** @type {{ what: string, against: string }[]} */
  const noted = notes
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const suites = new Set(ports.map(({ suite }) => suite))
  return [
    ...inOrder(skipped.map(({ name, reason }) => `skipped: ${name} (${reason})`)),
    ...inOrder([...suites].map((suite) => portLine(suite, ports, noted))),
    ...inOrder(
      noted.filter(({ what }) => !suites.has(what)).map(({ what, against }) => `${what}: ${against}`),
    ),
    ...(attacks.cases === 0 ? [] : [`attacks: ${attacks.refused} of ${attacks.cases} refused`]),
    ...failed.map(({ name, reason }) => `failed: ${name} (${reason})`),
    `${passed} passed, ${failed.length} failed, ${skipped.length} skipped`,
  ]
}

/**
 * A line about an adapter. An adapter without a note needs no engine behind it.
 * @param {string} suite
 * @param {readonly PortCases[]} ports
 * @param {readonly { what: string, against: string }[]} notes
 */
function portLine(suite, ports, notes) {
  const counts = ports
    .filter((port) => port.suite === suite)
    .map(({ node, passed, cases }) => `${passed} of ${cases} cases on Node ${node}`)
  const against = inOrder(notes.filter(({ what }) => what === suite).map((note) => note.against))
  return [`port ${suite}`, ...against.map((engine) => `against ${engine}`), ...counts].join('; ')
}

/** @param {readonly string[]} lines */
function inOrder(lines) {
  return [...new Set(lines)].sort()
}
