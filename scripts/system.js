/** Programs of the operating system: finds them, and installs missing ones on Debian. */
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { installEnvironment } from './environment.js'
import { run } from './run.js'

const limit = 300_000

/**
 * The path of a program, as a shell would find it.
 * @param {string} name
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
export function findProgram(name, env) {
  return (env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

/** Whether system packages can be installed without asking: as root, on Debian or a system derived from it. */
export function canInstall() {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version')
}

/**
 * Installs packages of the system: all at once and, if that fails, one by one, so that a missing package does not prevent the others.
 * @param {readonly string[]} packages
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} where
 * @returns {Promise<string[]>} the packages that could not be installed
 */
export async function installForSystem(packages, { cwd, env }) {
  /** @param {string[]} args */
  const apt = (...args) =>
    run('apt-get', ['-qq', ...args], {
      cwd,
      env: { ...installEnvironment(env), DEBIAN_FRONTEND: 'noninteractive' },
      limit,
      output: 'keep',
    })
  /** @param {readonly string[]} names */
  const isInstalled = async (names) => (await apt('install', '-y', '--no-install-recommends', ...names)).ok
  await apt('update')
  if (await isInstalled(packages)) return []
  const failed = []
  for (const name of packages) if (!(await isInstalled([name]))) failed.push(name)
  return failed
}
