/**
 * git as the runner calls it: only on git directories of our own, and configured so that no repository can start a program. Files that an agent wrote
 * are read by the same calls inside a sandbox (`Sandbox.gitFor`).
 */
import { setTimeout as delay } from 'node:timers/promises'
import { run } from '#platform/childProcess.ts'
import type { Finished, HostUser } from '#platform/childProcess.ts'

export interface GitCall {
  /** The subcommand and its arguments. Names from outside come after `--` or have passed `isBranchName`. */
  readonly args: readonly string[]
  /** Required for everything that works on a repository: git never searches for a git directory. */
  readonly gitDir?: string
  readonly workTree?: string
  /** Variables for this call, such as an index file or an author. */
  readonly env?: Readonly<Record<string, string>>
  /** Configuration that must not appear in the process list, so it is passed in the environment. */
  readonly secretConfig?: readonly (readonly [key: string, value: string])[]
  readonly input?: string | Uint8Array
  /** The time limit for git; 60 s by default. */
  readonly timeoutMs?: number
  /** The maximum size of git's output; 16 MiB by default. */
  readonly maxOutputBytes?: number
  readonly signal?: AbortSignal | undefined
  readonly onStdout?: (chunk: Buffer) => 'more' | 'enough'
  readonly onStderr?: (chunk: Buffer) => void
}

/** Runs git to its end and returns how it ended. Throws only if git cannot be started, usually `CannotStart`. */
export interface Git {
  (call: GitCall): Promise<Finished>
}

/** git on the host, outside of any sandbox. */
export interface HostGit extends Git {
  /** The same git, but everything that it writes is owned by another user. Only root can call it. */
  as(owner: HostUser): Git
}

/** git failed unexpectedly. The message contains its `lastWords`. */
export class GitFault extends Error {
  override readonly name = 'GitFault'
  readonly finished: Finished
  constructor(call: GitCall, finished: Finished) {
    super(`git ${call.args.find((word) => /^[a-z][a-z-]*$/.test(word)) ?? ''} failed: ${lastWords(finished)}`)
    this.finished = finished
  }
}

/** Runs git, and throws `GitFault` unless it succeeded. */
export async function gitOrThrow(git: Git, call: GitCall): Promise<Finished> {
  const finished = await git(call)
  if (!endedWell(finished)) throw new GitFault(call, finished)
  return finished
}

/** The output of git, without white space at its end. Throws `GitFault`. */
export async function gitText(git: Git, call: GitCall): Promise<string> {
  return (await gitOrThrow(git, call)).stdout.toString('utf8').trimEnd()
}

export function endedWell(finished: Finished): boolean {
  return finished.endedBy === 'itself' && finished.code === 0
}

/** Why git failed, for people: the last error message that it printed, at most 500 characters, or why it was ended. */
export function lastWords(finished: Finished): string {
  switch (finished.endedBy) {
    case 'time_limit':
      return 'it took too long'
    case 'output_limit':
      return 'it printed too much'
    case 'aborted':
      return 'it was stopped'
    case 'reader':
    case 'itself': {
      const lines = finished.stderr.toString('utf8').split(/[\r\n]+/)
      const last =
        lines.findLast((line) => /^(fatal|error|remote|bwrap):/.test(line)) ??
        lines.findLast((line) => line.trim())
      const words = last
        ?.replace(/^(fatal|error): /, '')
        .slice(0, 500)
        .trim()
      return words || `it ended with code ${finished.code ?? finished.signal ?? 'unknown'}`
    }
  }
}

/** The same git, except that this signal aborts calls that have no signal of their own. */
export function gitUntil(git: HostGit, signal: AbortSignal): HostGit {
  const until =
    (one: Git): Git =>
    (call) =>
      one({ ...call, signal: call.signal ?? signal })
  return Object.assign(until(git), { as: (owner: HostUser) => until(git.as(owner)) })
}

/** The limits of one git process on the host. They matter because the process reads what people and agents wrote. */
export interface HostGitLimits {
  readonly memoryBytes: number
  /** Processor time in seconds. */
  readonly seconds: number
  readonly fileSizeBytes: number
}

const hostGitLimits: HostGitLimits = {
  memoryBytes: 2 * 1024 ** 3,
  seconds: 600,
  fileSizeBytes: 8 * 1024 ** 3,
}

export interface HostGitOptions {
  /** The program; a name is searched for in `path`. */
  readonly program: string
  /** The `PATH` for git and the programs that it starts. */
  readonly path: string
  /** A file with the certificates to trust in place of the system's. */
  readonly certificates?: string | undefined
  readonly limits?: HostGitLimits
}

/**
 * git on the host, for repositories that no agent can write to. A call to the code host is tried once more if the host failed, like a call to its
 * API. A second attempt is safe for a push too: it finds the commits that the first one pushed.
 */
export function hostGit({ program, path, certificates, limits = hostGitLimits }: HostGitOptions): HostGit {
  const trusted = certificates === undefined ? {} : { GIT_SSL_CAINFO: certificates }
  const startedBy =
    (launcher: readonly string[]): Git =>
    async (call) => {
      const once = () =>
        run('/bin/sh', [...bounded(limits), ...launcher, program, ...gitArguments(call)], {
          env: { ...gitEnvironment(call, path), ...trusted },
          timeoutMs: call.timeoutMs ?? 60_000,
          maxOutputBytes: call.maxOutputBytes ?? 16 * 1024 * 1024,
          ...passedThrough(call),
        })
      const finished = await once()
      if (!asksHost.has(call.args[0] ?? '') || !hostStumbled(finished)) return finished
      await delay(pauseBeforeRetryMs, undefined, { signal: call.signal }).catch(() => undefined)
      return call.signal?.aborted ? finished : once()
    }
  return Object.assign(startedBy([]), { as: (owner: HostUser) => startedBy(becoming(owner)) })
}

const asksHost: ReadonlySet<string> = new Set(['fetch', 'push', 'ls-remote'])
const pauseBeforeRetryMs = 200

/** Whether the host failed or the connection broke. A call that timed out does not count and is not repeated. */
function hostStumbled(finished: Finished): boolean {
  if (finished.endedBy !== 'itself' || finished.code === 0) return false
  const stderr = finished.stderr.toString('utf8')
  return (
    /returned error: 5\d\d|HTTP 5\d\d|Empty reply|Recv failure|Send failure|Connection (reset|refused)|Could(n't| not) connect|Could not resolve host|early EOF|hung up unexpectedly|unexpected disconnect|curl (16|18|52|55|56|92)\b/i.test(
      stderr,
    ) && !/curl 28\b|timed out|too slow/i.test(stderr)
  )
}

/** Whether the host rejected the token itself. */
export function isUnauthorized(finished: Finished): boolean {
  return /could not read (username|password)|authentication failed|returned error: 401/i.test(
    finished.stderr.toString('utf8'),
  )
}

/** Whether the host refused because of a rate limit. */
export function isLimited(finished: Finished): boolean {
  return /returned error: 429|HTTP 429/i.test(finished.stderr.toString('utf8'))
}

/**
 * The command line of a shell that sets limits and then becomes the program. The program cannot raise the limits, and the kernel ends it before the
 * server when memory is short. The limits cost only this shell.
 */
function bounded({ memoryBytes, seconds, fileSizeBytes }: HostGitLimits): readonly string[] {
  const set = [
    `ulimit -d ${Math.floor(memoryBytes / 1_024)}`,
    `ulimit -t ${seconds}`,
    `ulimit -f ${Math.floor(fileSizeBytes / 512)}`,
    'ulimit -c 0',
    'if [ -w /proc/self/oom_score_adj ]; then echo 500 > /proc/self/oom_score_adj; fi',
  ]
  return ['-c', `${set.join('; ')}; exec "$@"`, 'git']
}

/** Starts a program as another user. By capabilities(7), this user may still read and write root's files, but has no other right of root. */
function becoming({ uid, gid }: HostUser): readonly string[] {
  const only = '-all,+dac_override'
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--no-new-privs',
    `--inh-caps=${only}`,
    `--ambient-caps=${only}`,
    `--bounding-set=${only}`,
    // git uses access(2), which otherwise ignores the capabilities of users other than root.
    '--securebits=+no_setuid_fixup',
    '--',
  ]
}

/** The options that a call passes to its process unchanged. */
export function passedThrough({ input, signal, onStdout, onStderr }: GitCall) {
  return {
    signal,
    ...(input === undefined ? {} : { input }),
    ...(onStdout && { onStdout }),
    ...(onStderr && { onStderr }),
  }
}

/** The whole argument list: the options that disable every hook, driver and helper, then the call. */
export function gitArguments(call: GitCall): string[] {
  const settings = Object.entries(safeSettings).flatMap(([key, value]) => ['-c', `${key}=${value}`])
  return ['--no-pager', '--no-optional-locks', '--literal-pathspecs', ...settings, ...call.args]
}

/** All environment variables of a call. None are inherited from this process. */
export function gitEnvironment(call: GitCall, path: string): Record<string, string> {
  const secrets = call.secretConfig ?? []
  return {
    PATH: path,
    // This folder does not exist, so git finds no ~/.gitconfig, no ~/.netrc and no ~/.ssh.
    HOME: '/nonexistent',
    XDG_CONFIG_HOME: '/nonexistent',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...(call.gitDir === undefined ? {} : { GIT_DIR: call.gitDir }),
    ...(call.workTree === undefined ? {} : { GIT_WORK_TREE: call.workTree }),
    ...call.env,
    ...(secrets.length === 0 ? {} : { GIT_CONFIG_COUNT: String(secrets.length) }),
    ...Object.fromEntries(
      secrets.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  }
}

/** The header that gives git access to `url` and nothing else; empty for a public repository. */
export function authorizationConfig(
  url: string,
  authorization: string | undefined,
): readonly (readonly [string, string])[] {
  return authorization === undefined ? [] : [[`http.${url}.extraHeader`, `Authorization: ${authorization}`]]
}

/** A call to the code host: the git directory of our repository, and the address of the host's repository. */
export interface HostCall {
  readonly gitDir: string
  readonly url: string
  /** The value of the `Authorization` header; absent for a public repository. */
  readonly authorization?: string | undefined
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** Fetches refs of the host, each as `+from:to`, without tags and without garbage collection. */
export function fetchRefs(git: Git, host: HostCall, refs: readonly string[]): Promise<Finished> {
  return callHost(git, host, ['fetch', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'], refs)
}

/** Pushes a ref, as `from:to`, and never forces. The host's answer is printed in the form of `--porcelain`. */
export function pushRef(git: Git, host: HostCall, ref: string): Promise<Finished> {
  return callHost(git, host, ['push', '--porcelain', '--no-verify', '--no-signed'], [ref])
}

function callHost(
  git: Git,
  { gitDir, url, authorization, timeoutMs, signal }: HostCall,
  command: readonly string[],
  refs: readonly string[],
): Promise<Finished> {
  const secretConfig = authorizationConfig(url, authorization)
  return git({ gitDir, args: [...command, '--', url, ...refs], secretConfig, timeoutMs, signal })
}

/** The commit of a ref; `null` when the ref does not exist. Throws `GitFault` for other failures. */
export async function commitOf(git: Git, gitDir: string, ref: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`]
  const call = { gitDir, args }
  const found = await git(call)
  if (endedWell(found)) return found.stdout.toString('utf8').trim()
  // Exit code 1 means that the ref or object does not exist; any other code is a failure of git.
  if (found.endedBy === 'itself' && found.code === 1) return null
  throw new GitFault(call, found)
}

export async function emptyTree(git: Git, gitDir: string): Promise<string> {
  return gitText(git, { gitDir, args: ['hash-object', '-t', 'tree', '--stdin'], input: '' })
}

const safeSettings = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.untrackedCache': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'core.quotePath': 'false',
  'core.safecrlf': 'false',
  'core.askPass': '',
  'credential.helper': '',
  'commit.gpgSign': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  'fetch.recurseSubmodules': 'false',
  'push.recurseSubmodules': 'no',
  'diff.ignoreSubmodules': 'all',
  'protocol.allow': 'never',
  'protocol.http.allow': 'always',
  'protocol.https.allow': 'always',
  'protocol.file.allow': 'always',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1000',
  'http.lowSpeedTime': '60',
} as const
