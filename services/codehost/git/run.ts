/** git as child processes: arguments never through a shell, a time limit on each, nothing of the server's environment, all ended on stop. */
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { devNull } from 'node:os'
import type { Readable, Writable } from 'node:stream'

/** Variables of the operator's environment by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** git could not be run, was ended, or refused. `message` is a sentence for the log. */
export class GitFault extends Error {
  override readonly name = 'GitFault'
}

export interface GitOptions {
  /** Fed to standard input, which is empty otherwise. */
  readonly input?: string
  /** Milliseconds until the process is killed; 20 s unless told. */
  readonly timeLimit?: number
  /** Bytes of standard output that are kept; more ends the process and sets `truncated`. 8 MiB unless told. */
  readonly maxBytes?: number
  readonly env?: Environment
  /** `operator`: with the person's own git configuration, keys and proxies, to reach what they can reach. */
  readonly as?: 'host' | 'operator'
}

export interface GitResult {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
  readonly truncated: boolean
}

/** A git process whose streams are the caller's. */
export interface GitProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  /** The exit code, or `null` when it was killed; never rejects but when git cannot be started. */
  readonly ended: Promise<number | null>
  /** The last 4 KiB of standard error. */
  stderr(): string
  kill(): void
}

export interface Git {
  /** Runs to the end; a non-zero exit is a result. Throws GitFault when git is missing or runs out of time. */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>
  /** Standard output without its last line break. Throws GitFault on a non-zero exit as well. */
  text(args: readonly string[], options?: GitOptions): Promise<string>
  start(args: readonly string[], options?: Pick<GitOptions, 'timeLimit' | 'env' | 'as'>): GitProcess
  /** Kills what still runs and waits for it. */
  stop(): Promise<void>
}

const settings: readonly (readonly [string, string])[] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  // Nothing may go on after the process that we wait for.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['protocol.ext.allow', 'never'],
  // The data folder may sit on a volume of another user; whose repositories are in it is known by their place.
  ['safe.directory', '*'],
  ['http.receivepack', 'true'],
  ['receive.denyNonFastForwards', 'false'],
  ['receive.maxInputSize', '2g'],
  // Pull request heads are the host's to write.
  ['receive.hideRefs', 'refs/pull'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['uploadpack.allowFilter', 'true'],
]

const always = ['PATH', 'SystemRoot', 'TMPDIR', 'TEMP', 'TMP']
const ofTheOperator = [
  'HOME',
  'USER',
  'LOGNAME',
  'USERPROFILE',
  'APPDATA',
  'XDG_CONFIG_HOME',
  'SSH_AUTH_SOCK',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'GIT_SSL_CAINFO',
]

/** git with the `environment`'s PATH; of the rest only what reaching other hosts needs, and only `as: 'operator'`. */
export function createGit(environment: Environment): Git {
  const running = new Set<GitProcess>()
  const startOne = (args: readonly string[], options: GitOptions): GitProcess => {
    const started = startGit(args, environmentFor(environment, options), options.timeLimit ?? 20_000)
    running.add(started)
    const gone = () => running.delete(started)
    started.ended.then(gone, gone)
    return started
  }
  const run = (args: readonly string[], options: GitOptions = {}) =>
    collect(startOne(args, options), args, options)

  return {
    run,
    text: async (args, options) => {
      const result = await run(args, options)
      if (result.code !== 0) throw new GitFault(`git ${verb(args)} failed: ${result.stderr.trim()}`)
      return result.stdout.toString('utf8').replace(/\n$/, '')
    },
    start: (args, options = {}) => startOne(args, options),
    stop: async () => {
      const left = [...running]
      for (const one of left) one.kill()
      await Promise.allSettled(left.map((one) => one.ended))
    },
  }
}

function environmentFor(environment: Environment, options: GitOptions): Record<string, string> {
  const env: Record<string, string> = {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
    GIT_CONFIG_COUNT: String(settings.length),
  }
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key
    env[`GIT_CONFIG_VALUE_${index}`] = value
  }
  if (options.as !== 'operator') {
    env['GIT_CONFIG_NOSYSTEM'] = '1'
    env['GIT_CONFIG_GLOBAL'] = devNull
  }
  const passed = options.as === 'operator' ? [...always, ...ofTheOperator] : always
  for (const name of passed) {
    const value = environment[name]
    if (value !== undefined) env[name] = value
  }
  for (const [name, value] of Object.entries(options.env ?? {})) {
    if (value !== undefined) env[name] = value
  }
  return env
}

function startGit(args: readonly string[], env: Record<string, string>, timeLimit: number): GitProcess {
  // A group of its own: git's helpers die with it, and none of them finds a terminal to ask at.
  const child = spawn('git', args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  let forced: NodeJS.Timeout | undefined
  const kill = () => {
    // Asked first: git then takes its lock files away.
    signalGroup(child, 'SIGTERM')
    // Output that nobody reads any more would keep the process from ending.
    child.stdout.destroy()
    forced ??= setTimeout(() => signalGroup(child, 'SIGKILL'), 2_000)
  }
  const timer = setTimeout(kill, timeLimit)
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-4096)
  })
  // A process that ends before it has read everything is no fault of ours; its exit code tells.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new GitFault('git was not found: install git and start again.')
          : new GitFault(`git cannot be started: ${error.message}`, { cause: error }),
      ),
    )
    child.once('close', (code) => resolve(code))
  }).finally(() => {
    clearTimeout(timer)
    clearTimeout(forced)
  })
  ended.catch(() => undefined)
  return { stdin: child.stdin, stdout: child.stdout, ended, stderr: () => complaint, kill }
}

function signalGroup(child: ChildProcessByStdio<Writable, Readable, Readable>, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal)
  }
}

async function collect(
  started: GitProcess,
  args: readonly string[],
  options: GitOptions,
): Promise<GitResult> {
  const most = options.maxBytes ?? 8 * 1024 * 1024
  const chunks: Buffer[] = []
  let size = 0
  let truncated = false
  started.stdout.on('data', (chunk: Buffer) => {
    if (truncated) return
    chunks.push(chunk)
    size += chunk.length
    if (size > most) {
      truncated = true
      started.kill()
    }
  })
  started.stdin.end(options.input ?? '')
  const code = await started.ended
  if (code === null && !truncated) {
    throw new GitFault(`git ${verb(args)} was ended: it took too long, or the code host stops.`)
  }
  const stdout = Buffer.concat(chunks)
  return { code: code ?? 0, stdout: stdout.subarray(0, most), stderr: started.stderr(), truncated }
}

const verb = (args: readonly string[]): string => args.find((arg) => !arg.startsWith('-')) ?? ''
