/** Installs the packages of the lock file into node_modules, but only when they are not there. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { installEnvironment } from './environment.js'
import { run } from './run.js'
import { isStamped, remember, stamped } from './stamps.js'

const limit = 900_000
/** After some faults npm prints its whole usage; the fault itself is in the first lines. */
const linesOfFault = 25

/**
 * @typedef {{ version?: string, optional?: boolean }} Locked
 * @typedef {{ packages: Record<string, Locked> }} Lock
 */

/**
 * Whether the packages that npm reports as installed are those of the lock file. An optional package may be missing, because it is for another
 * platform.
 * @param {Lock} wanted package-lock.json
 * @param {Lock} installed node_modules/.package-lock.json, which npm writes when it has finished
 */
export function isInstalled(wanted, installed) {
  return Object.entries(wanted.packages).every(([path, { version, optional }]) => {
    if (path === '') return true
    const there = installed.packages[path]
    return there ? there.version === version : optional === true
  })
}

/**
 * Whether node_modules contains the packages of the lock file for this kind of machine.
 * @param {string} root
 */
export function packagesAreCurrent(root) {
  const stamp = stampPath(root)
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  if (isStamped(stamp, fingerprint(lock))) return true
  try {
    const installed = readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')
    if (!isInstalled(JSON.parse(lock), JSON.parse(installed))) return false
    // Packages that were installed by hand are as good; with the stamp, the next start need not compare them.
    remember(stamp, fingerprint(lock))
    return true
  } catch {
    return false
  }
}

/**
 * Installs exactly the packages of the lock file. Returns the text to show when that fails.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} shell of which npm and the packages' own scripts get what `installEnvironment` passes on
 * @returns {Promise<string | undefined>}
 */
export async function installPackages(root, shell) {
  const env = installEnvironment(shell)
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  // The build needs the development packages too, even if NODE_ENV=production would leave them out. No package runs a script of its own: two would
  // compile what they can do without.
  const options = ['--no-audit', '--no-fund', '--include=dev', '--include=optional', '--ignore-scripts']
  /** @param {string[]} args */
  const npm = async (...args) => {
    const ended = await run('npm', [...args, '--loglevel=error'], { cwd: root, env, limit, output: 'keep' })
    const said = ended.output.trimEnd().split('\n').slice(0, linesOfFault).join('\n')
    if (!ended.ok) throw new Error(`${said}\nInstalling the packages failed: npm ${args[0]} ${ended.why}.`)
  }
  try {
    await stamped(stampPath(root), fingerprint(lock), async () => {
      await npm('ci', ...options)
      // Compiles SQLite where no compiled one comes with the package.
      await npm('rebuild', '@photostructure/sqlite')
    })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.trimStart() : String(error)
  }
}

/** @param {string} root */
function stampPath(root) {
  return join(root, 'node_modules/.flightdeck-stamp')
}

/** @param {string} lock */
function fingerprint(lock) {
  return `${process.platform}-${process.arch} ${createHash('sha256').update(lock).digest('hex')}`
}
