/**
 * The sandbox for agents and commands. Its kind says what an adapter guarantees:
 *
 * - `bubblewrap`: its own user, process tree, network and file system. Inside are the workspace, a private home,
 *   the mirror's objects, the system read-only, and what the spec names; the environment is that of the spec.
 *   Nothing of it is left after its end.
 * - `container`: the same, made by a container engine. The system is the image's, and no program can be started beside
 *   the command.
 * - `none`: a plain child of this process with all permissions of the server's user. Only for operators who ask
 *   for it by name.
 *
 * Tested by the specs beside the adapters.
 */
import type { Readable, Writable } from 'node:stream'
import type { ListeningPort } from './listeningPorts.ts'
import type { Program, ProgramSpec } from './program.ts'
import type { Git } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'

export type CommandEnvironment = Readonly<Record<string, string>> & { readonly PATH: string }

export interface Sandbox {
  readonly kind: 'bubblewrap' | 'container' | 'none'
  /** The engine's id of the image that containers are made of; absent for other kinds. */
  readonly imageId?: string
  /** The variables by which commands find programs of this machine; absent for a sandbox with a system of its own. */
  readonly hostPrograms?: CommandEnvironment
  /**
   * Starts a command. Throws `CannotStart`, or `RangeError` for a spec that the sandbox cannot meet. An error inside of the sandbox looks like a
   * failure of the command.
   */
  run(spec: SandboxSpec): SandboxedProcess
  /**
   * Starts a sandbox while the caller still prepares the command. Absent if this would save no time. Throws `CannotStart`. Nothing in the workspace
   * is read until the command runs.
   */
  reserve?(spec: ReservedSpec): ReservedSandbox
  paths(workspace: Workspace): SandboxPaths
  /** The path at which a command in the sandbox finds the file or folder of `bind`. */
  seenAs(bind: Bind): string
  /**
   * git for reading and committing what an agent wrote. It sees only this workspace and its mirror, and no network; without a sandbox, it is the
   * host's own git.
   */
  gitFor(workspace: Workspace): Git
}

export interface SandboxPaths {
  /** The tree, which is the working folder of commands. */
  readonly tree: string
  readonly home: string
}

/**
 * A file or folder `source` of the host, and the path `target` at which the sandbox shows it; `seenAs` says where commands find it. Both paths are
 * absolute, and `target` is outside of the sandbox's tree and home.
 */
export interface Bind {
  readonly source: string
  readonly target: string
}

export interface SandboxLimits {
  /**
   * The limit for all processes together. Files in `/tmp` and in `/dev/shm` may take up a quarter of it each in addition. Where the kernel counts, a
   * single limit covers all three.
   */
  readonly memoryBytes: number
  readonly processes: number
  /** The limit for each file. */
  readonly fileSizeBytes: number
  readonly wallMs: number
}

export interface SandboxSpec {
  /** Program and arguments, without a shell. Others on the host can see them. */
  readonly command: readonly [string, ...string[]]
  /**
   * The variables of the command. They replace and extend those that every command gets, such as `HOME`, `USER`, `LANG` and `TMPDIR`. `PATH` lists
   * folders below the tree and the home, as in `./bin:$HOME/bin`. They are searched before the folders of the sandbox.
   */
  readonly env: Readonly<Record<string, string>>
  readonly workspace: Workspace
  readonly readOnly: readonly Bind[]
  /** The Unix sockets that the command can reach: the only ways out of the sandbox. */
  readonly sockets: readonly Bind[]
  readonly stdin: 'pipe' | 'ignore'
  readonly limits: SandboxLimits
  /** How many helper processes the command starts before it reads its input. They live as long as the command. None by default. */
  readonly helperCount?: number
  /** The ports of the sandbox's loopback on which our own helper processes listen. None by default. */
  readonly ownPorts?: readonly number[]
}

/** The part of a spec that must be known when a sandbox is reserved. */
export type ReservedSpec = Pick<SandboxSpec, 'workspace' | 'stdin' | 'limits'>

export interface ReservedSandbox {
  /** Runs the command, once. If this throws, the sandbox must still be closed. */
  run(spec: Omit<SandboxSpec, keyof ReservedSpec>): SandboxedProcess
  /** Ends a sandbox that has not run a command. */
  close(): Promise<void>
}

/**
 * Why the sandbox ended. `itself`: by itself, or by a signal from inside. Otherwise the runner ended it for the given reason; for `memory_limit`, the
 * kernel may have done so.
 */
export type SandboxEnd = 'itself' | 'time_limit' | 'memory_limit' | 'killed'

export interface SandboxExit {
  /** The exit code, or 128 plus the number of the signal that ended the command; `null` if only `signal` says how it ended. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly reason: SandboxEnd
}

export interface SandboxedProcess {
  /** Set while an agent's command waits to begin: its home is still being written, so no program of a person may be started beside it. */
  isToBegin?: boolean
  /** The process id on this machine; `null` for a container, whose process id is not known here. */
  readonly pid: number | null
  readonly stdin: Writable | null
  /** The command waits while nobody reads `stdout` and `stderr`. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when all processes of the sandbox have ended, whether or not its output was read. Without a sandbox, detached processes may go on. */
  readonly exited: Promise<SandboxExit>
  /** Does what Ctrl-C does in a terminal: sends SIGINT to all processes that are still in the command's group. */
  interrupt(): void
  /** Ends the sandbox at once, with everything that it started. `exited` says when that is done. */
  kill(): void
  /**
   * Never rejects. In an agent's sandbox, resolves when the command and its helper processes have started, or when that has failed: whatever is
   * started later does not survive a freeze.
   */
  readonly settled: Promise<void>
  /**
   * Starts another program in this sandbox, with the same user, namespaces, filter and limits. It runs in a frozen sandbox too, and ends with the
   * sandbox. Rejects with `CannotStart`, in a container always.
   */
  exec(spec: ProgramSpec): Promise<Program>
  /**
   * The process ids, on this machine, of the keepers (programKeeper.ts). Each program of `exec` has a keeper, and everything that the program started
   * is below its keeper.
   */
  programs(): readonly number[]
  /** The TCP ports on which the command, the programs of `exec` and their descendants listen: at most 64, and none in a container. */
  listening(): Promise<readonly ListeningPort[]>
  /**
   * Suspends the command and its helper processes, which existed when `settled` resolved, and ends all other processes. Nothing runs until `thaw`,
   * apart from programs of `exec` and their descendants. If this fails, or takes longer than some seconds, everything is ended. Without a sandbox,
   * `freeze` misses a process that has left the command's group, whose parent has ended, and that has removed our mark (none.ts).
   */
  freeze(): Promise<'frozen' | 'ended'>
  thaw(): void
}
