/**
 * Hints between processes. A message may be lost and nothing depends on it: who listens also reads the log. Held by
 * `tests/contracts/bus.spec.ts`.
 */
import type { AgentState } from '#domain/api/server.schema.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'

/** Text of a message that is being written, for who watches the task; the text is sealed, in base64. */
export interface SealedWords {
  readonly taskId: string
  readonly executionId: string
  readonly messageId: string
  /** Where the text begins in the message, in UTF-16 code units. */
  readonly offset: number
  readonly sealed: string
}

/** Everything that is said on the bus. */
export interface BusMessages {
  /** An event has been appended: where, and of which kind. What it says is read from the log. */
  readonly appended: Pick<StoredEvent, 'stream' | 'revision' | 'type'>
  /** An agent is saying something, which is recorded a moment later: see `liveWords`. */
  readonly words: SealedWords
  /** A projection has folded everything up to and including this position. */
  readonly projected: { readonly projection: string; readonly position: Position }
  /** A runner is there, which it says each second: what people should know of how agents run on it, the agents it can run (none while it is still looking for them), and the ids of the jobs that it runs. */
  readonly runner: {
    readonly runnerId: string
    readonly notices: readonly string[]
    readonly agents: readonly AgentState[]
    readonly jobs: readonly string[]
  }
}
export type Topic = keyof BusMessages

export interface Bus {
  /** Says it to all who listen now, in all processes. Returns at once; a fault of the engine is swallowed and logged. */
  publish<T extends Topic>(topic: T, message: BusMessages[T]): void
  /** Listens until the returned function is called. One publisher's messages arrive in the order they were said. */
  subscribe<T extends Topic>(topic: T, listen: (message: BusMessages[T]) => void): () => void
  ready(): Promise<void>
  close(): Promise<void>
}
