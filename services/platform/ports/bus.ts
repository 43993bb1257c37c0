/**
 * Hints between processes. Messages may be lost, so nothing depends on them: subscribers also read the log. Held by `tests/contracts/bus.spec.ts`.
 */
import type { AgentState } from '#domain/api/server.schema.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'

/** Text of a message that an agent is writing, for viewers of the task; sealed, in base64. */
export interface SealedWords {
  readonly taskId: string
  readonly executionId: string
  readonly messageId: string
  /** Where the text begins in the message, in UTF-16 code units. */
  readonly offset: number
  readonly sealed: string
}

/** All messages, by topic. */
export interface BusMessages {
  /** An event has been appended: its stream, revision and type. Its content is read from the log. */
  readonly appended: Pick<StoredEvent, 'stream' | 'revision' | 'type'>
  /** Text that an agent is writing, shortly before it is recorded: see `liveWords`. */
  readonly words: SealedWords
  /** A projection has folded everything up to and including this position. */
  readonly projected: { readonly projection: string; readonly position: Position }
  /**
   * A runner's heartbeat, sent every second: notices about how agents run on it, the agents it can run (empty while it is still looking for
   * them), and the ids of its running jobs.
   */
  readonly runner: {
    readonly runnerId: string
    readonly notices: readonly string[]
    readonly agents: readonly AgentState[]
    readonly jobs: readonly string[]
  }
  /** Who is online, sent by each gateway every 10 seconds: people with an open page, and the tasks open in one. */
  readonly presence: { readonly userIds: readonly string[]; readonly taskIds: readonly string[] }
  /** The code host reported a change in the App's installations or their permissions. */
  readonly installations: { readonly changed: true }
  /** The code host asked a token holder to wait until this time, in ms since the epoch. The holder's name is no secret. */
  readonly hostWait: { readonly holder: string; readonly until: number }
  /** A stream was set aside or released; its documents already show that. */
  readonly quarantine: { readonly stream: string }
}
export type Topic = keyof BusMessages

export interface Bus {
  /** Sends to all current subscribers in all processes. Returns at once; engine faults are logged, not thrown. */
  publish<T extends Topic>(topic: T, message: BusMessages[T]): void
  /** Subscribes until the returned function is called. Messages of one publisher arrive in the order it sent them. */
  subscribe<T extends Topic>(topic: T, listen: (message: BusMessages[T]) => void): () => void
  ready(): Promise<void>
  close(): Promise<void>
}
