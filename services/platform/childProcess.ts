/**
 * Starts child processes: without a shell, with an explicit environment, in a process group that is ended as a whole, and, with `run`, with limits on
 * time and output.
 */
import { spawn } from 'node:child_process'
import type { StdioOptions } from 'node:child_process'
import { Duplex } from 'node:stream'
import type { Readable, Writable } from 'node:stream'

/** Thrown when a program cannot be started, for example because the program or its working folder does not exist. Nothing was started. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart'
  readonly file: string
  constructor(file: string, cause?: unknown) {
    super(
      `${file} cannot be started: ${cause instanceof Error ? cause.message : 'it, or the folder to start it in, is not there'}`,
      { cause },
    )
    this.file = file
  }
}

export interface Exit {
  /** `null` when a signal ended the process. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A user of this machine, by number. The number need not have an account. */
export interface HostUser {
  readonly uid: number
  readonly gid: number
}

export interface SpawnOptions {
  /** The working folder of the child: `/` by default, not the folder of this process. */
  readonly cwd?: string
  /** The complete environment of the child. Nothing of this process's environment is passed on. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: 'pipe' | 'ignore'
  /** Another user to run as. Only root can do that. */
  readonly user?: HostUser | undefined
  /** The number of additional pipes that the child gets, as file descriptors from 3 on. */
  readonly extraPipes?: number
}

export interface SpawnedProcess {
  readonly pid: number
  readonly stdin: Writable | null
  /** Both `stdout` and `stderr` must be read: when a pipe is full, the child waits. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** The additional pipes in order. Each can be read and written. */
  readonly pipes: readonly Duplex[]
  /** Settles when the process has ended, whether or not its output was read. */
  readonly exited: Promise<Exit>
  /** Sends a signal to all processes that are still in the child's group. Does nothing when there are none. */
  signalGroup(signal: NodeJS.Signals): void
}

/** Starts a child in its own process group. Throws `CannotStart`. */
export function spawnProcess(file: string, args: readonly string[], options: SpawnOptions): SpawnedProcess {
  const extra = Array.from({ length: options.extraPipes ?? 0 }, () => 'pipe' as const)
  const stdio: StdioOptions = [options.stdin, 'pipe', 'pipe', ...extra]
  const child = startChild(file, args, { ...options, stdio })
  let fault: unknown
  child.on('error', (error) => (fault = error))
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined || !stdout || !stderr) throw new CannotStart(file, fault)

  // A child may close its input before everything is written. The child's exit code shows whether that was an error.
  stdin?.on('error', ignore)
  const pipes = child.stdio.slice(3).filter((stream) => stream instanceof Duplex)
  for (const pipe of pipes) pipe.on('error', ignore)

  return {
    pid,
    stdin,
    stdout,
    stderr,
    pipes,
    exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))),
    signalGroup: (signal) => signalProcess(-pid, signal),
  }
}

/**
 * Ends a child and all other processes in its group. Without `graceMs`, sends SIGKILL at once. Otherwise sends SIGTERM, and SIGKILL after that time.
 * In between, stdout is discarded, since a full pipe would keep the child from ending.
 */
export function endGroup(child: SpawnedProcess, graceMs = 0): void {
  if (graceMs === 0) return child.signalGroup('SIGKILL')
  child.signalGroup('SIGTERM')
  child.stdout.destroy()
  const forced = setTimeout(() => child.signalGroup('SIGKILL'), graceMs)
  // When the child has ended, other processes of its group may still ignore SIGTERM.
  void child.exited.then(() => signalProcess(-child.pid, 0) || clearTimeout(forced))
}

/**
 * Sends a signal to a process, or to a process group if `pid` is negative. Signal 0 only checks. Returns `false` when there is no such process, or
 * none that this process may signal.
 */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

export interface RunOptions {
  readonly cwd?: string
  readonly env: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
  /** Inputs for the file descriptors from 3 on. */
  readonly extraInputs?: readonly (string | Uint8Array)[]
  readonly user?: HostUser | undefined
  readonly timeoutMs: number
  /** The time between SIGTERM and SIGKILL when the child is ended early; without it, SIGKILL is sent at once. */
  readonly graceMs?: number
  /** The limit of stdout and of stderr, each. Chunks for `onStdout` do not count. */
  readonly maxOutputBytes: number
  /** How many of the last bytes of stderr are kept. If given, stderr has no limit. */
  readonly stderrTailBytes?: number
  readonly signal?: AbortSignal | undefined
  /** Gets each chunk of stdout until the child is ended early; no chunk is kept. Returning `enough` ends the child. */
  readonly onStdout?: (chunk: Buffer) => 'more' | 'enough'
  /** Gets each chunk of stderr, which is also kept. */
  readonly onStderr?: (chunk: Buffer) => void
}

export type EndedBy = 'itself' | 'time_limit' | 'output_limit' | 'aborted' | 'reader'

export interface Finished extends Exit {
  readonly stdout: Buffer
  readonly stderr: Buffer
  /** What ended the child. Unless it ended by `itself`, its whole group was ended. */
  readonly endedBy: EndedBy
}

/** Runs a child to its end and returns its output. Throws only `CannotStart`: every exit code is a result. */
export async function run(file: string, args: readonly string[], options: RunOptions): Promise<Finished> {
  if (options.signal?.aborted)
    return { code: null, signal: null, stdout: nothing, stderr: nothing, endedBy: 'aborted' }
  const child = spawnProcess(file, args, {
    ...options,
    stdin: options.input === undefined ? 'ignore' : 'pipe',
    extraPipes: options.extraInputs?.length ?? 0,
  })
  return runToEnd(child, options)
}

/** Like `run`, for a child that is already running: writes its inputs and applies the limits. Never throws. */
export async function runToEnd(
  child: SpawnedProcess,
  options: Omit<RunOptions, 'cwd' | 'env' | 'user'>,
): Promise<Finished> {
  let endedBy: EndedBy = 'itself'
  const end = (why: EndedBy): void => {
    if (endedBy === 'itself') {
      endedBy = why
      endGroup(child, options.graceMs)
    } else if (options.graceMs === undefined) child.signalGroup('SIGKILL')
  }
  const timer = setTimeout(end, options.timeoutMs, 'time_limit')
  const abort = (): void => end('aborted')
  options.signal?.addEventListener('abort', abort)
  if (options.signal?.aborted) abort()

  const { onStdout, onStderr, maxOutputBytes, stderrTailBytes } = options
  const stdout = collect(child.stdout, {
    limit: maxOutputBytes,
    exceeded: () => end('output_limit'),
    first:
      onStdout &&
      ((chunk) => {
        if (endedBy === 'itself' && onStdout(chunk) === 'enough') end('reader')
        return 'taken'
      }),
  })
  const seen = (chunk: Buffer): 'seen' => {
    onStderr?.(chunk)
    return 'seen'
  }
  const stderr =
    stderrTailBytes === undefined
      ? collect(child.stderr, {
          limit: maxOutputBytes,
          exceeded: () => end('output_limit'),
          first: seen,
        })
      : collectTail(child.stderr, stderrTailBytes, seen)
  child.stdin?.end(options.input)
  options.extraInputs?.forEach((input, index) => child.pipes[index]?.end(input))

  try {
    const [exit, out, err] = await Promise.all([child.exited, stdout, stderr])
    return { ...exit, stdout: out, stderr: err, endedBy }
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', abort)
  }
}

interface Collecting {
  readonly limit: number
  readonly exceeded: () => void
  /** Called with each chunk first. If it returns `taken`, the chunk is neither kept nor counted. */
  readonly first: ((chunk: Buffer) => 'taken' | 'seen') | undefined
}

/** Reads a stream to its end and returns at most its first `limit` bytes. */
function collect(stream: Readable, { limit, exceeded, first }: Collecting): Promise<Buffer> {
  const kept: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    if (first?.(chunk) === 'taken') return
    if (size < limit) kept.push(chunk.subarray(0, limit - size))
    size += chunk.length
    if (size > limit) exceeded()
  })
  return closed(stream).then(() => Buffer.concat(kept))
}

/** Reads a stream to its end and returns its last bytes. */
function collectTail(stream: Readable, bytes: number, see: (chunk: Buffer) => void): Promise<Buffer> {
  let kept: Buffer = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    see(chunk)
    kept = Buffer.concat([kept, chunk]).subarray(-bytes)
  })
  return closed(stream).then(() => kept)
}

function closed(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', () => resolve())
    stream.once('error', () => stream.destroy())
  })
}

function startChild(file: string, args: readonly string[], options: SpawnOptions & { stdio: StdioOptions }) {
  const { cwd = '/', env, user, stdio } = options
  try {
    return spawn(file, [...args], { cwd, env: { ...env }, stdio, detached: true, shell: false, ...user })
  } catch (error) {
    throw new CannotStart(file, error)
  }
}

const nothing = Buffer.alloc(0)
const ignore = (): void => undefined
