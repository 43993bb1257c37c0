/**
 * FerretDB 1.x with its SQLite back end: a server for MongoDB's protocol that others wrote. It is a Go program, built once from its module into
 * `.cache/`, and runs on loopback. It differs from MongoDB in two ways that matter to us: no index is used for a query, and an update reads and
 * writes in two steps (see `oneAtATime`).
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePortsFor } from '../freePorts.ts'
import { programOfScript } from '../programScript.ts'

export const ferretDbVersion = 'v1.24.2'

const user = 'flightdeck'
const buildMs = 900_000
const startMs = 30_000

export interface FerretDb {
  readonly url: string
  readonly folder: string
  /** The number of the process that was started last. */
  readonly pid: () => number | undefined
  /** Sends SIGKILL; the data stays. */
  kill9(): Promise<void>
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  /** Ends it and removes the data. */
  stop(): Promise<void>
}

/** The path of the program, built if necessary: about a minute and a half on two cores. Throws with the reason when it cannot be built. */
export function ferretDbProgram(): Promise<string> {
  return programOfScript('ferretdb.js', buildMs)
}

/** Starts the program on a free port and in a folder of its own, with one user and a new password. */
export async function startFerretDb(): Promise<FerretDb> {
  const file = await ferretDbProgram()
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-ferretdb-'))
  const [port = 0] = await freePortsFor(1)
  const password = randomBytes(12).toString('hex')
  const args = [
    '--handler=sqlite',
    // Data that a power cut would lose does not matter here.
    `--sqlite-url=file:${folder}/?_pragma=synchronous(off)`,
    `--state-dir=${folder}`,
    `--listen-addr=127.0.0.1:${port}`,
    '--debug-addr=-',
    '--telemetry=disable',
    '--log-level=error',
    '--test-enable-new-auth',
    '--setup-database=admin',
    `--setup-username=${user}`,
  ]
  let child: ChildProcess | undefined
  async function kill9(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  const stop = async () => {
    await kill9()
    await rm(folder, { recursive: true, force: true })
  }
  async function start(): Promise<void> {
    const started = spawn(file, args, {
      env: { HOME: folder, FERRETDB_SETUP_PASSWORD: password },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child = started
    let said = ''
    started.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000)
    })
    const end = Date.now() + startMs
    while (!(await answers(port))) {
      if (started.exitCode !== null || Date.now() > end) {
        await stop()
        throw new Error(`FerretDB did not start: ${said}`)
      }
      await pause(20)
    }
  }
  await start()
  return {
    url: `mongodb://${user}:${password}@127.0.0.1:${port}/?directConnection=true`,
    folder,
    pid: () => child?.pid,
    kill9,
    start,
    stop,
  }
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
