/** What a box has beside what runs in it: made when the box is started, and gone with it, which may be many turns later. */
import type { Begins } from '../egress/relay.ts'
import type { Bind } from '../sandbox/port.ts'

type Command = readonly [string, ...string[]]

export interface SandboxEnv {
  /** What it is, in words: an agent that was started with the same need not be started anew. */
  readonly fingerprint: string
  /** Whether an agent in it may have its model's service fetch from the network. */
  readonly modelFetches: boolean
  open(): Promise<{
    /** What is said for the box by others counts for more. */
    readonly env: Readonly<Record<string, string>>
    readonly readOnly: readonly Bind[]
    readonly sockets: readonly Bind[]
    /** The command that starts the box, with what runs beside it. */
    command(command: Command, begins: Begins): Command
    /** How many processes that is, where the command is begun when it is told to. */
    readonly beside: number
    close(): Promise<void>
  }>
}
