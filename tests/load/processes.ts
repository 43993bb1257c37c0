/** Processes that are measured: started, awaited and ended completely. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { within } from '../product/live.ts'

export type Environment = Readonly<Record<string, string>>

export interface Started {
  readonly pid: number
  /** The time in milliseconds from the start to the line that reports readiness. */
  readonly readyMs: number
  /** The line that reports readiness. */
  readonly line: string
  /** Ends the process and everything that it started; resolves when all have ended. */
  stop(): Promise<void>
}

const readyWithinMs = 30_000
const leaveWithinMs = 12_000

/** Starts a program and waits for the line that `ready` matches. Throws with the program's output when the line does not come. */
export async function startProcess(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, env, ready }: { readonly cwd: string; readonly env: Environment; readonly ready: RegExp },
): Promise<Started> {
  const startedAt = performance.now()
  // A process group of its own, so that the processes it starts can be ended with it.
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = once(child, 'close').catch(() => undefined)
  // An interrupted bench ends the process too.
  const takeAlong = () => signalGroup(child.pid, 'SIGKILL')
  process.once('exit', takeAlong)
  child.once('close', () => process.off('exit', takeAlong))
  const stop = async () => {
    signalGroup(child.pid, 'SIGTERM')
    await within(leaveWithinMs, `${program} does not leave`, gone).catch(() => undefined)
    signalGroup(child.pid, 'SIGKILL')
    await gone
  }
  let said = ''
  const line = new Promise<string>((resolve, reject) => {
    const read = (chunk: string) => {
      said = `${said}${chunk}`.slice(-10_000)
      const found = said.split('\n').find((text) => ready.test(text))
      if (found !== undefined) resolve(found)
    }
    child.stdout.setEncoding('utf8').on('data', read)
    child.stderr.setEncoding('utf8').on('data', read)
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`${program} ended with exit code ${code}: ${said}`)))
  })
  try {
    const found = await within(readyWithinMs, `${program} is not ready`, line)
    return { pid: child.pid ?? 0, readyMs: performance.now() - startedAt, line: found, stop }
  } catch (fault) {
    await stop()
    throw fault
  }
}

/** The time in milliseconds that a program takes from its start to its end. */
export async function timeToExit(
  [program, ...args]: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly env: Environment },
): Promise<number> {
  const startedAt = performance.now()
  await promisify(execFile)(program, args, { ...options, timeout: readyWithinMs })
  return performance.now() - startedAt
}

/** The resident memory of a process, in MB of 10^6 bytes. Linux only. */
export async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (kibibytes === undefined) throw new Error(`The kernel does not say how much memory ${pid} has.`)
  return (Number(kibibytes) * 1_024) / 1e6
}

function signalGroup(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch {
    // The group does not exist: all its processes have ended.
  }
}
