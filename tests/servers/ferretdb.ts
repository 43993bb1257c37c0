/**
 * FerretDB 1.x with its SQLite back end: a server of MongoDB's protocol that others wrote. It is a Go program, built once from its
 * module into `.cache/`, and runs on loopback. It differs from MongoDB where it matters to us: no index serves a query, and an update
 * reads and writes in two steps (see `oneAtATime`).
 */
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { z } from 'zod'

const goModule = 'github.com/FerretDB/FerretDB'
export const ferretDbVersion = 'v1.24.2'
/** The sum of the module at this version: another one is refused. */
const sum = 'h1:trrUU0LbmusMbyubhPS1IELncvrIwKrsRT2LW1UUWCw='

const cache = join(
  import.meta.dirname,
  '../../.cache',
  `ferretdb-${ferretDbVersion}-${process.platform}-${process.arch}`,
)
const program = join(cache, 'ferretdb')
const user = 'flightdeck'
const downloadMs = 120_000
const buildMs = 600_000
const startMs = 30_000

export interface FerretDb {
  readonly url: string
  stop(): Promise<void>
}

/** The program, built where it is not there yet: about a minute and a half on two cores. Throws with the reason when it cannot be. */
export async function ferretDbProgram(): Promise<string> {
  await mkdir(cache, { recursive: true })
  const lock = join(cache, 'lock')
  for (;;) {
    if (await exists(program)) return program
    if (await isMade(lock)) break
    // Another test file builds it. A lock that nobody can hold any more is taken away.
    const age = await stat(lock).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    if (age > downloadMs + buildMs) await rm(lock, { recursive: true, force: true })
    await pause(250)
  }
  try {
    await build()
    return program
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

/** Starts it on a free port and a folder of its own, with one user and a password of its own. */
export async function startFerretDb(): Promise<FerretDb> {
  const file = await ferretDbProgram()
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-ferretdb-'))
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const child = spawn(
    file,
    [
      '--handler=sqlite',
      // What is lost in a power cut is no matter here.
      `--sqlite-url=file:${folder}/?_pragma=synchronous(off)`,
      `--state-dir=${folder}`,
      `--listen-addr=127.0.0.1:${port}`,
      '--debug-addr=-',
      '--telemetry=disable',
      '--log-level=error',
      '--test-enable-new-auth',
      '--setup-database=admin',
      `--setup-username=${user}`,
    ],
    { env: { HOME: folder, FERRETDB_SETUP_PASSWORD: password }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-2_000)
  })
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  const end = Date.now() + startMs
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop()
      throw new Error(`FerretDB did not start: ${said}`)
    }
    await pause(20)
  }
  return { url: `mongodb://${user}:${password}@127.0.0.1:${port}/?directConnection=true`, stop }
}

const Downloaded = z.object({ Dir: z.string(), Sum: z.string() })

async function build(): Promise<void> {
  const go = promisify(execFile)
  const env = { ...goEnvironment(), CGO_ENABLED: '0' }
  const { stdout } = await go('go', ['mod', 'download', '-json', `${goModule}@${ferretDbVersion}`], {
    cwd: cache,
    env,
    timeout: downloadMs,
  })
  const found = Downloaded.parse(JSON.parse(stdout))
  if (found.Sum !== sum) throw new Error(`${goModule} ${ferretDbVersion} is not the one that we know.`)
  const source = join(cache, 'source')
  const built = join(cache, 'built')
  try {
    await copy(found.Dir, source)
    // A release has this file; the module has not, and will not start without it.
    await writeFile(join(source, 'build/version/version.txt'), ferretDbVersion)
    const flags = ['-trimpath', '-buildvcs=false', '-ldflags=-s -w', '-tags=ferretdb_no_postgresql']
    await go('go', ['build', ...flags, '-o', built, './cmd/ferretdb'], { cwd: source, env, timeout: buildMs })
    await rename(built, program)
  } finally {
    await rm(source, { recursive: true, force: true })
  }
}

/** A copy that can be written to, which the module cache is not. */
async function copy(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const copied = join(to, relative(from, file))
    await mkdir(dirname(copied), { recursive: true })
    await writeFile(copied, await readFile(file))
  }
}

/** What Go needs of the environment: where things are, and how modules are reached. */
function goEnvironment(): Record<string, string> {
  const needed = /^(PATH|HOME|TMPDIR|XDG_CACHE_HOME|GO[A-Z0-9]*|HTTPS?_PROXY|NO_PROXY|SSL_CERT_(FILE|DIR))$/i
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && needed.test(name) ? [[name, value]] : [],
    ),
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.')
  return address.port
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

/** Whether the folder is ours: made now, by us. */
async function isMade(folder: string): Promise<boolean> {
  return mkdir(folder).then(
    () => true,
    () => false,
  )
}
