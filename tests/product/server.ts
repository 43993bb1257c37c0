/** One process of the product: built, in an environment of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { within } from './live.ts'
import type { processesOf } from './processes.ts'
import { patienceMs } from '../patience.ts'

/** What the process has printed, over all its starts. */
export interface Logs {
  stdout: string
  stderr: string
}

export interface ServerProcess {
  readonly logs: Logs
  readonly isRunning: () => boolean
  /** The number of the process that was started last. */
  readonly pid: () => number | undefined
  /** Starts the process, or starts it again, and waits for its ready line. Throws with its output when the line does not come. */
  start(): Promise<void>
  /** Starts the process without waiting. */
  launch(): void
  /** Resolves once the process is ready, within 30 s of the call. */
  ready(): Promise<void>
  /** Sends SIGTERM or Ctrl-C; checks that the process exits with 0 within 10 s. Returns how long that took, in milliseconds. */
  terminate(signal?: 'SIGTERM' | 'SIGINT'): Promise<void>
  /** Sends SIGKILL to the process alone: the processes that it started get no signal. */
  kill9(): Promise<void>
  /** Freezes the process, like a machine that was put to sleep, or lets it go on. */
  freeze(): void
  thaw(): void
}

export const serverEntry = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  'dist/server/main.js',
)
export const readyMs = patienceMs

/** A process that is not started yet. It gets only this environment. */
export function serverProcess(
  folder: string,
  {
    env,
    args = [],
    preload,
    user,
    entry = serverEntry,
  }: {
    env: Readonly<Record<string, string>>
    args?: readonly string[]
    /** A file that is loaded before the product. */
    preload?: string | undefined
    /** The user who runs it, by number; the tests' own user by default. */
    user?: number | undefined
    /** The program; by default the one in dist. */
    entry?: string | undefined
  },
): ServerProcess {
  const logs: Logs = { stdout: '', stderr: '' }
  let child: ChildProcess | undefined
  let printed = 0

  function launch(): void {
    if (!existsSync(entry)) throw new Error('There is no server in dist: npm run build makes it.')
    const imports = preload === undefined ? [] : ['--import', preload]
    const started = spawn(process.execPath, [...imports, entry, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env },
      ...(user !== undefined && { uid: user, gid: user }),
    })
    printed = logs.stdout.length
    child = started
    keepLogs(started, logs)
    // An interrupted test run ends its products too.
    const takeAlong = () => started.kill('SIGKILL')
    process.once('exit', takeAlong)
    started.once('exit', () => process.off('exit', takeAlong))
  }

  async function ready(): Promise<void> {
    const waiting = child
    if (!waiting) throw new Error('It was not started.')
    const told = () => `${logs.stdout.slice(printed)}${logs.stderr}`
    const isReady = () => /^Flightdeck is ready: /m.test(logs.stdout.slice(printed))
    const readiness = new Promise<void>((resolve, reject) => {
      if (isReady()) return resolve()
      if (waiting.exitCode !== null) return reject(new Error(`It ended with ${waiting.exitCode}.\n${told()}`))
      waiting.stdout?.on('data', () => isReady() && resolve())
      waiting.once('error', reject)
      waiting.once('close', (code) => reject(new Error(`It ended with ${code}.\n${told()}`)))
    })
    try {
      await within(readyMs, () => `It is not ready.\n${told()}`, readiness)
    } catch (fault) {
      waiting.kill('SIGKILL')
      throw fault
    }
  }

  return {
    logs,
    isRunning: () => child !== undefined && child.exitCode === null && child.signalCode === null,
    pid: () => child?.pid,
    launch,
    ready,
    async start() {
      launch()
      await ready()
    },
    async terminate(signal = 'SIGTERM') {
      const code = await ended(child, signal)
      if (code !== 0) throw new Error(`It exited with ${code}.\n${logs.stdout}${logs.stderr}`)
    },
    async kill9() {
      await ended(child, 'SIGKILL')
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}

export function keepLogs(child: ChildProcess, logs: Logs): void {
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (logs.stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (logs.stderr += text))
}

/** A clean environment: programs are found as in the shell, but nothing else is taken from the shell. */
export function cleanEnvironment(folder: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: folder,
    TMPDIR: folder,
    LANG: 'C.UTF-8',
  }
}

/** A folder for a test, through which agents' users may pass as through `/tmp`. It is removed after the test run. */
export async function ownFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-product-'))
  await chmod(folder, 0o711)
  return folder
}

/** Waits for what the kernel still has to clean up after a kill, on a busy machine too, and expects that no process is left. */
export async function noneLeft(processes: () => ReturnType<typeof processesOf>): Promise<void> {
  for (const end = Date.now() + 10_000; ;) {
    const left = await processes()
    if (left.length === 0) return
    if (Date.now() > end)
      throw new Error(`Still there: ${left.map(({ pid, command }) => `${pid} ${command}`).join('\n')}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 50)
    })
  }
}

export const discard = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true })

/** Sends the signal and returns the exit code, or `null` when a signal ended the process. */
async function ended(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  child.kill('SIGCONT')
  child.kill(signal)
  return within(patienceMs, `It does not end after ${signal}`, closed).finally(() => child.kill('SIGKILL'))
}
