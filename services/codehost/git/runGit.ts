/** Runs git for the local code host. Each process has a time limit and its own environment. */
import { devNull } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { CannotStart, endGroup, runToEnd, spawnProcess, type SpawnedProcess } from '#platform/childProcess.ts'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** git could not be started, was ended, or failed. `message` is a sentence for the log. */
export class GitFault extends Error {
  override readonly name = 'GitFault'
}

export interface GitOptions {
  /** The standard input, which is empty by default. */
  readonly input?: string
  /** Milliseconds until the process is killed; 20 s by default. */
  readonly timeLimit?: number
  /** The maximum size of standard output in bytes, by default 8 MiB. If git writes more, it is ended, and `truncated` is set. */
  readonly maxBytes?: number
  readonly env?: Environment
  /** Further settings of git, in addition to the settings that every run has. */
  readonly settings?: readonly (readonly [string, string])[]
  /** With `operator`, git uses the configuration, keys and proxies of the server's operator, to reach the same repositories as the operator. */
  readonly as?: 'host' | 'operator'
}

export interface GitResult {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
  readonly truncated: boolean
}

/** A git process whose streams the caller reads and writes. */
export interface GitProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  /** Resolves with the exit code, or with `null` when the process was killed. Never rejects. */
  readonly ended: Promise<number | null>
  kill(): void
}

export interface Git {
  /** Runs git to its end. Throws GitFault when git is missing, exceeds the time limit or is killed, but not when git exits with an error. */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>
  /** Runs git, and returns its standard output without the last line break. Also throws GitFault when git exits with an error or writes too much. */
  text(args: readonly string[], options?: GitOptions): Promise<string>
  /** Starts git. Throws GitFault when git is missing. */
  start(
    args: readonly string[],
    options?: Pick<GitOptions, 'timeLimit' | 'env' | 'settings' | 'as'>,
  ): GitProcess
  /** Kills all running processes and waits for their end. */
  stop(): Promise<void>
}

const settings: readonly (readonly [string, string])[] = [
  ['core.hooksPath', devNull],
  ['core.fsmonitor', 'false'],
  ['core.quotePath', 'false'],
  // git must not start background processes, because we would not wait for their end.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autogc', 'false'],
  ['protocol.ext.allow', 'never'],
  // The data folder may belong to another user, in which case git refuses to read it. We created all repositories in it, so they are safe.
  ['safe.directory', '*'],
  ['http.receivepack', 'true'],
  ['receive.denyNonFastForwards', 'false'],
  ['receive.maxInputSize', '2g'],
  // Only the code host may write the refs of pull requests.
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

/**
 * Creates the functions that run git. Each run gets the PATH and the folder for temporary files from `environment`. Only runs as `operator` also get
 * the variables for reaching other hosts.
 */
export function createGit(environment: Environment): Git {
  const running = new Set<SpawnedProcess>()
  const spawnGit = (args: readonly string[], options: GitOptions): SpawnedProcess => {
    const child = startGit(args, environmentFor(environment, options))
    running.add(child)
    void child.exited.then(() => running.delete(child))
    return child
  }
  const run = async (args: readonly string[], options: GitOptions = {}): Promise<GitResult> => {
    const { code, stdout, stderr, endedBy } = await runToEnd(spawnGit(args, options), {
      input: options.input ?? '',
      timeoutMs: options.timeLimit ?? usualTimeLimit,
      graceMs,
      maxOutputBytes: options.maxBytes ?? 8 * 1024 * 1024,
      stderrTailBytes: 4_096,
    })
    const truncated = endedBy === 'output_limit'
    if (!truncated && (code === null || endedBy !== 'itself'))
      throw new GitFault(`git ${verb(args)} was ended: it took too long, or the code host stops.`)
    return { code: code ?? 0, stdout, stderr: stderr.toString('utf8'), truncated }
  }
  return {
    run,
    text: async (args, options) => {
      const result = await run(args, options)
      if (result.truncated) throw new GitFault(`git ${verb(args)} wrote more than is accepted.`)
      if (result.code !== 0) throw new GitFault(`git ${verb(args)} failed: ${result.stderr.trim()}`)
      return result.stdout.toString('utf8').replace(/\n$/, '')
    },
    start: (args, options = {}) => streaming(spawnGit(args, options), options.timeLimit ?? usualTimeLimit),
    stop: async () => {
      const left = [...running]
      for (const child of left) endGroup(child, graceMs)
      await Promise.all(left.map((child) => child.exited))
    },
  }
}

const usualTimeLimit = 20_000
/** How long a process may go on after SIGTERM before it is killed. On SIGTERM, git removes its lock files. */
const graceMs = 2_000

function environmentFor(environment: Environment, options: GitOptions): Record<string, string> {
  const all = [...settings, ...(options.settings ?? [])]
  const env: Record<string, string> = {
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
    GIT_CONFIG_COUNT: String(all.length),
  }
  for (const [index, [key, value]] of all.entries()) {
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

function startGit(args: readonly string[], env: Record<string, string>): SpawnedProcess {
  try {
    return spawnProcess('git', args, { env, stdin: 'pipe' })
  } catch (fault) {
    if (!(fault instanceof CannotStart)) throw fault
    throw new GitFault('git was not found: install git and start again.', { cause: fault })
  }
}

function streaming(child: SpawnedProcess, timeLimit: number): GitProcess {
  const { stdin, stdout, stderr, exited } = child
  if (!stdin) throw new GitFault('git was started without an input.')
  const kill = (): void => endGroup(child, graceMs)
  const timer = setTimeout(kill, timeLimit)
  stderr.resume()
  const ended = exited.then(({ code }) => {
    clearTimeout(timer)
    return code
  })
  return { stdin, stdout, ended, kill }
}

const verb = (args: readonly string[]): string => args.find((arg) => !arg.startsWith('-')) ?? ''
