/**
 * Hints between processes. Messages may be lost, so nothing may depend on a single message: events are also read from the log, and states such as
 * `runner` and `presence` are sent repeatedly. Tested by `tests/contracts/bus.spec.ts`.
 */
import { z } from 'zod'
import { AgentState } from '#domain/api/server.schema.ts'
import { Position } from '#domain/kernel/event.schema.ts'

export const messages = {
  /** An event was appended, with this stream, revision and type. Its content must be read from the log. */
  appended: z.object({ stream: z.string(), revision: z.int().nonnegative(), type: z.string() }),
  /** Text that an agent is writing, for viewers of the task, shortly before it is recorded: see `liveWords`. */
  words: z.object({
    taskId: z.string(),
    executionId: z.string(),
    messageId: z.string(),
    /** Where the text begins in the message or thought, as an index of UTF-16 code units. */
    offset: z.int().nonnegative(),
    /** Set for a thought, which is no part of any message. */
    isThought: z.literal(true).optional(),
    sealed: z.base64(),
  }),
  /** A projection, which computes read models, has applied all events up to and including this position. */
  projected: z.object({ projection: z.string(), position: Position }),
  /**
   * A runner's heartbeat, sent every second: notices about how agents run on it, the states of the agents on it (empty while it is still finding
   * out), and the ids of its running jobs. A runner that is leaving takes no more jobs, so others may take the next jobs of its tasks.
   */
  runner: z.object({
    runnerId: z.string(),
    isLeaving: z.literal(true).optional(),
    notices: z.array(z.string()).readonly(),
    agents: z.array(AgentState).readonly(),
    jobs: z.array(z.string()).readonly(),
  }),
  /**
   * Who is online, sent by each gateway every 10 seconds and after changes: people with an open page, and the tasks that they have open. A message
   * has at most 1,000 of each; further ones follow in further messages.
   */
  presence: z.object({ userIds: z.array(z.string()).readonly(), taskIds: z.array(z.string()).readonly() }),
  /** The code host reported a change in the App's installations or their permissions. */
  installations: z.object({ changed: z.literal(true) }),
  /** The code host asked a token holder to wait until this time, in milliseconds since 1970. The holder's name is no secret. */
  hostWait: z.object({ holder: z.string(), until: z.number() }),
  /** A stream was quarantined or released. The read models already show that. */
  quarantine: z.object({ stream: z.string() }),
}
export type Topic = keyof typeof messages
export type BusMessages = { readonly [T in Topic]: Readonly<z.output<(typeof messages)[T]>> }
export type SealedWords = BusMessages['words']

export interface Bus {
  /** Set when no message leaves this process. */
  readonly isWithinProcess?: true
  /** Sends to all current subscribers in all processes. Returns at once; engine faults are logged, not thrown. */
  publish<T extends Topic>(topic: T, message: BusMessages[T]): void
  /** Subscribes until the returned function is called. The messages of one publisher arrive in the order in which it sent them. */
  subscribe<T extends Topic>(topic: T, listen: (message: BusMessages[T]) => void): () => void
  ready(): Promise<void>
  close(): Promise<void>
}
