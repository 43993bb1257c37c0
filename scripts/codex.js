/** Fetches the `codex` that tests use into `.cache/`, unless it is there, and prints its path. */
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installEnvironment } from './environment.js'
import { run } from './run.js'

const version = '0.169.0'
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(root, '.cache', `codex-${version}`)
const inFolder = 'node_modules/.bin/codex'
const program = join(cache, inFolder)
const patienceMs = 240_000

/** The path of codex, fetched if necessary. Throws with the reason when it cannot be fetched. */
export async function codexProgram() {
  if (await exists(program)) return program
  await mkdir(dirname(cache), { recursive: true })
  // Other processes may fetch it at the same time: it is moved into place when it is complete, and the first one stays.
  const own = await mkdtemp(`${cache}-`)
  try {
    const options = ['--prefix', own, '--save-exact', '--no-audit', '--no-fund', '--ignore-scripts']
    await step('npm', ['install', ...options, `@openai/codex@${version}`], own)
    // npm does not report it when the program for this platform, an optional package, could not be fetched.
    await step(process.execPath, [join(own, inFolder), '--version'], own)
    await rename(own, cache).catch(() => undefined)
    return program
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
async function step(command, args, cwd) {
  const env = installEnvironment(process.env)
  const { ok, why, output } = await run(command, args, { cwd, env, limit: patienceMs, output: 'keep' })
  if (!ok) throw new Error(`codex ${version} cannot be fetched here: ${command} ${why}. ${output.trim()}`)
}

/** @param {string} file */
async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(await codexProgram())
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
