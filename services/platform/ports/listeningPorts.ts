/** The ports on which programs listen in the sandboxes of tasks. Only the process that runs a sandbox can connect to its ports. */
import type { Duplex } from 'node:stream'

export interface ListeningPort {
  readonly port: number
  /** The name that a listening process gave to itself; `null` when the name is not known. */
  readonly process: string | null
}

export interface RunningSandbox {
  /** Differs from the id of every other sandbox. */
  readonly id: string
  /** The ports on which programs of the task listen. Ports of our own relays are not among them. */
  ports(): Promise<readonly ListeningPort[]>
  /**
   * Connects to a port that `ports` lists; `undefined` for any other port. The connection ends with the sandbox, and what it delivers must not be
   * trusted. Throws `CannotStart`.
   */
  connect(port: number): Promise<Duplex | undefined>
}

export interface SandboxPorts {
  /** The sandboxes of a task that run now, the latest first. */
  of(taskId: string): readonly RunningSandbox[]
}
