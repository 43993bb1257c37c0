/** What Flightdeck requires of the programs that it finds: each function returns a sentence to show, or `undefined` when all is well. */

const oldestNode = [20, 19]
/** The first version of git that can merge without a work tree, which the local code host does. */
const oldestMergingGit = [2, 38]

/**
 * @param {string} version such as 20.19.0
 * @returns {string | undefined}
 */
export function faultOfNode(version) {
  if (!isOlder(version, oldestNode)) return undefined
  return `Flightdeck needs Node ${oldestNode.join('.')} or later; this is ${version}. Get a newer one from https://nodejs.org and start again.`
}

/**
 * @param {string | undefined} answer what `git --version` printed, or nothing where it could not be run
 * @returns {string | undefined}
 */
export function faultOfGit(answer) {
  if (answer !== undefined) return undefined
  return 'Flightdeck needs git, and there is none on the PATH. Install it (https://git-scm.com/downloads) and start again.'
}

/**
 * What an older git cannot do, which is no reason not to start.
 * @param {string | undefined} answer what `git --version` printed
 * @returns {string | undefined}
 */
export function limitationOfGit(answer) {
  const version = /\d+\.\d+(\.\d+)?/.exec(answer ?? '')?.[0]
  if (version === undefined || !isOlder(version, oldestMergingGit)) return undefined
  return `This is git ${version}: merging in the local code host needs ${oldestMergingGit.join('.')} or later. The rest works.`
}

/**
 * @param {string} version
 * @param {readonly number[]} oldest major and minor
 */
function isOlder(version, [oldestMajor = 0, oldestMinor = 0]) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
}
