/**
 * Builds FerretDB 1.x from its Go module into `.cache/`, unless it is there, and prints its path: a build takes about a minute and a half on two
 * cores. Tests use FerretDB in place of MongoDB. When it cannot be built, the first line on standard error says why.
 */
import { execFile } from 'node:child_process'
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { goEnvironment } from './environment.js'

const goModule = 'github.com/FerretDB/FerretDB'
const version = 'v1.24.2'
/** The checksum of the module at this version; a module with another one is refused. */
const sum = 'h1:trrUU0LbmusMbyubhPS1IELncvrIwKrsRT2LW1UUWCw='

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const cache = join(root, '.cache', `ferretdb-${version}-${process.platform}-${process.arch}`)
const program = join(cache, 'ferretdb')
const lock = join(cache, 'builder')
const downloadMs = 120_000
const buildMs = 600_000
/** A low priority, because tests and checks that somebody waits for run at the same time. */
const priority = 10

/** The path of FerretDB, built if necessary. Throws with the reason when it cannot be built. */
export async function ferretDbProgram() {
  await mkdir(cache, { recursive: true })
  for (;;) {
    if (await exists(program)) return program
    if (await isLocked()) break
    // Another process is building it. A process that was killed leaves its lock and its drafts behind.
    const holder = await readFile(lock, 'utf8').catch(() => '')
    if (/^\d+$/.test(holder) && !runs(Number(holder))) {
      for (const left of [...draftsOf(Number(holder)), lock]) await rm(left, { recursive: true, force: true })
    }
    await pause(250)
  }
  try {
    await build()
    return program
  } finally {
    await rm(lock, { force: true })
  }
}

/**
 * The folder of the sources, and the path of the program that is being built.
 * @param {number} pid of the process that builds
 * @returns {[source: string, built: string]}
 */
function draftsOf(pid) {
  return [join(cache, `source-${pid}`), join(cache, `built-${pid}`)]
}

async function build() {
  const go = promisify(execFile)
  // The compiler takes a sixth less processor time with more memory.
  const env = { GOGC: '400', ...goEnvironment(process.env), CGO_ENABLED: '0' }
  const module = ['mod', 'download', '-json', `${goModule}@${version}`]
  const { stdout } = await go('go', module, { cwd: cache, env, timeout: downloadMs })
  /** @type {{ Dir: string, Sum: string }} */
  const found = JSON.parse(stdout)
  if (found.Sum !== sum) throw new Error(`${goModule} ${version} is not the one that we know.`)
  const [source, built] = draftsOf(process.pid)
  try {
    await copy(found.Dir, source)
    // A release contains this file; the module does not, and FerretDB does not start without it.
    await writeFile(join(source, 'build/version/version.txt'), version)
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-tags=ferretdb_no_postgresql']
    await go('go', ['build', ...flags, '-o', built, './cmd/ferretdb'], { cwd: source, env, timeout: buildMs })
    await rename(built, program)
  } finally {
    await rm(source, { recursive: true, force: true })
  }
}

/**
 * Copies the module to a folder that can be written to, which the module cache is not.
 * @param {string} from
 * @param {string} to
 */
async function copy(from, to) {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const copied = join(to, relative(from, file))
    await mkdir(dirname(copied), { recursive: true })
    await writeFile(copied, await readFile(file))
  }
}

/** @param {string} file */
async function exists(file) {
  return access(file).then(
    () => true,
    () => false,
  )
}

/** Whether this process has taken the lock. */
async function isLocked() {
  return writeFile(lock, String(process.pid), { flag: 'wx' }).then(
    () => true,
    () => false,
  )
}

/** @param {number} pid */
function runs(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setPriority(priority)
  try {
    console.log(await ferretDbProgram())
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
