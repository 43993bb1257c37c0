/** Fetches a program that tests use from npm into `.cache/`, unless it is there. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installEnvironment } from './environment.js'
import { run } from './run.js'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const patienceMs = 240_000

/**
 * The path of the program, fetched if necessary. Throws with the reason when it cannot be fetched.
 * @param {{ name: string, version: string, from: string, file: string }} program `from` is its package, `file` its place in `node_modules`
 */
export async function npmProgram({ name, version, from, file }) {
  const cache = join(root, '.cache', `${name}-${version}`)
  const inFolder = join('node_modules', file)
  const program = join(cache, inFolder)
  if (await exists(program)) return program
  await mkdir(dirname(cache), { recursive: true })
  // Other processes may fetch it at the same time: it is moved into place when it is complete, and the first one stays.
  const own = await mkdtemp(`${cache}-`)
  /** @type {(command: string, args: readonly string[]) => Promise<void>} */
  const step = async (command, args) => {
    const env = installEnvironment(process.env)
    const { ok, why, output } = await run(command, args, { cwd: own, env, limit: patienceMs, output: 'keep' })
    if (!ok) throw new Error(`${name} ${version} cannot be fetched here: ${command} ${why}. ${output.trim()}`)
  }
  try {
    const options = ['--prefix', own, '--save-exact', '--no-audit', '--no-fund', '--ignore-scripts']
    await step('npm', ['install', ...options, `${from}@${version}`])
    // npm does not report it when the program for this platform, an optional package, could not be fetched.
    await step(join(own, inFolder), ['--version'])
    await rename(own, cache).catch(() => undefined)
    return program
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/**
 * Prints the path, or the reason why it could not be fetched.
 * @param {Promise<string>} path
 */
export async function printed(path) {
  try {
    console.log(await path)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

/** @param {string} file */
async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  )
}
