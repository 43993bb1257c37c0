/** A program that is started in a running sandbox: a person's shell, a service, or a connection to a port. */
import type { Duplex, Readable, Writable } from 'node:stream'
import { CannotStart, type SpawnedProcess } from '#platform/childProcess.ts'
import { endTree } from './bubblewrap/stopTree.ts'

/** The size of a terminal, in characters. */
export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

export interface ProgramSpec {
  /** Program and arguments, without a shell. */
  readonly command: readonly [string, ...string[]]
  /**
   * The variables that the program gets in addition to the default environment of commands. It does not get the variables of the sandbox's own
   * command.
   */
  readonly env: Readonly<Record<string, string>>
  /** Gives the program a terminal of this size. All of its output is in `stdout`. */
  readonly terminal?: TerminalSize
}

/** `lost`: the sandbox ended, or somebody inside ended the keeper of the program. */
export type ProgramEnd = 'itself' | 'killed' | 'lost'

export interface ProgramExit {
  /** The exit code as a shell reports it; `null` unless the program ended by itself. */
  readonly code: number | null
  readonly reason: ProgramEnd
}

export interface Program {
  readonly stdin: Writable
  /** If nobody reads these streams, the program waits. */
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when the program and everything that it started have ended. */
  readonly exited: Promise<ProgramExit>
  resize(size: TerminalSize): void
  /** Ends the program with everything that it started. */
  kill(): void
}

/** How many programs of `exec` may run in a sandbox at the same time. */
export const maxPrograms = 64

/** A program whose keeper (`programKeeper.ts`) was just started. */
export interface KeptProgram {
  readonly child: SpawnedProcess
  /** The pipe to the keeper. The data from it is not trusted, since other processes of the sandbox can act as the keeper. */
  readonly control: Duplex
  /** The keeper's process id on this machine; `undefined` when it has ended. */
  readonly keeper: () => Promise<number | undefined>
  /** Ends the whole sandbox, because some processes of the program could not be ended. */
  readonly endSandbox: () => void
}

/** Follows a program to its end, and then ends everything that it started. */
export function follow({ child, control, keeper, endSandbox }: KeptProgram): Program {
  let code: number | null = null
  let reason: ProgramEnd = 'lost'
  let isEnding = false
  const end = async (why: ProgramEnd): Promise<void> => {
    if (isEnding) return
    isEnding = true
    reason = why
    const pid = await keeper()
    // Orphans become children of the keeper, so everything that the program started is below it.
    if (pid === undefined) child.signalGroup('SIGKILL')
    else if (!(await endTree(pid))) endSandbox()
  }
  let said = ''
  control.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString('latin1')}`.slice(0, 16)
    const found = /^(\d{1,3})\n/.exec(said)
    if (!found) return
    if (!isEnding) code = Number(found[1])
    void end('itself')
  })
  // The program may have ended before it read its input.
  child.stdin?.on('error', () => undefined)
  return {
    stdin: stdinOf(child),
    stdout: child.stdout,
    stderr: child.stderr,
    exited: child.exited.then(() => ({ code: reason === 'itself' ? code : null, reason })),
    resize: ({ rows, columns }) => void control.write(`${rows} ${columns}\n`),
    kill: () => void end('killed'),
  }
}

function stdinOf({ stdin }: SpawnedProcess): Writable {
  if (!stdin) throw new CannotStart('perl')
  return stdin
}
