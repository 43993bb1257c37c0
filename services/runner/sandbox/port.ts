/**
 * The sandbox that agents and commands run in. An adapter gives what its kind promises:
 *
 * - `bubblewrap`: a user, a process tree, a network and a file system of its own. Inside are the workspace, a private home, the mirror's
 *   objects, the system read-only, and what the spec names; the environment is the spec's. Nothing of it lives on after its end.
 * - `container`: the same, made by a container engine. The system is the image's, and what the processes hold and what lies in the
 *   temporary folders is counted together.
 * - `none`: a plain child of this process, which can do what the server's user can. It is only for operators who ask for it by name.
 *
 * Held by the tests beside the adapters.
 */
import type { Readable, Writable } from 'node:stream'
import type { Git } from '../workspace/git/git.ts'
import type { Workspace } from '../workspace/workspace.ts'

export interface Sandbox {
  readonly kind: 'bubblewrap' | 'container' | 'none'
  /** Starts a command. Throws `CannotStart`; what goes wrong inside shows as the command's own failure. */
  run(spec: SandboxSpec): SandboxedProcess
  /**
   * Starts a sandbox before its command is known, where that saves time: some of its setup is waiting. Throws `CannotStart`. Nothing of the
   * workspace is looked at until its command runs.
   */
  reserve?(spec: ReservedSpec): ReservedSandbox
  paths(workspace: Workspace): SandboxPaths
  /** The path by which a command reaches what was bound for it. */
  seenAs(bind: Bind): string
  /** Git for reading and committing what an agent wrote: it sees this workspace and its mirror, and no network. */
  gitFor(workspace: Workspace): Git
}

export interface SandboxPaths {
  /** The tree, where commands start. */
  readonly tree: string
  readonly home: string
}

/** Something of the host's that is shown at a path inside. Both are absolute, and `target` is outside tree and home. */
export interface Bind {
  readonly source: string
  readonly target: string
}

export interface SandboxLimits {
  /** For all processes together, without what they keep in `/tmp`, which may be half as much again. */
  readonly memoryBytes: number
  readonly processes: number
  /** Of any one file. */
  readonly fileSizeBytes: number
  readonly wallMs: number
}

export interface SandboxSpec {
  /** Program and arguments, no shell. Others on the host can see them. */
  readonly command: readonly [string, ...string[]]
  /** All of the environment but `HOME`, `PATH`, `USER`, `LANG` and `TMPDIR`, which have defaults. */
  readonly env: Readonly<Record<string, string>>
  readonly workspace: Workspace
  readonly readOnly: readonly Bind[]
  /** Unix sockets: the only ways out. */
  readonly sockets: readonly Bind[]
  readonly stdin: 'pipe' | 'ignore'
  readonly limits: SandboxLimits
  /** How many helper processes the command starts before it reads its input; they live as long as it does. None by default. */
  readonly beside?: number
}

/** What of a sandbox must be known from the start. */
export type ReservedSpec = Pick<SandboxSpec, 'workspace' | 'stdin' | 'limits'>

export interface ReservedSandbox {
  /** Runs its command, once. When this throws, the sandbox is still to be closed. */
  run(spec: Omit<SandboxSpec, keyof ReservedSpec>): SandboxedProcess
  /** Ends a sandbox in which no command runs. */
  close(): Promise<void>
}

/** Why it ended: by itself, which includes a signal from inside the sandbox, or because we ended it for the reason named. */
export type SandboxEnd = 'itself' | 'time_limit' | 'memory_limit' | 'killed'

export interface SandboxExit {
  /** As a shell tells it: 128 and the signal's number when a signal ended the command. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly reason: SandboxEnd
}

export interface SandboxedProcess {
  /** On the host; `null` where it is none of this process's own. */
  readonly pid: number | null
  readonly stdin: Writable | null
  /** A command waits when these are not read. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when nothing of it runs any more, whether or not its output was read. */
  readonly exited: Promise<SandboxExit>
  /** What Ctrl-C does in a terminal: SIGINT for the command and all that stayed in its group. */
  interrupt(): void
  /** Ends it at once, with all that it started. `exited` tells when that is done. */
  kill(): void
  /** When the command, and what it starts beside itself, is there: what is begun from then on does not outlive a freeze. Never fails. */
  readonly settled: Promise<void>
  /**
   * Ends all that runs in it but the command and what was there when it had settled, and stops these: nothing in it runs until `thaw`. If that
   * cannot be done within seconds, all of it is ended. Without a sandbox, a process is not found that hides in a session of its own and has removed
   * the mark from its environment.
   */
  freeze(): Promise<'frozen' | 'ended'>
  thaw(): void
}
