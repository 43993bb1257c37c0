/**
 * The terminal stream of a task: printed output in order, and text while it is being written. The stream has no decider: only the runner that holds
 * the execution appends to it, with exact revisions.
 */
import { z } from 'zod'
import { event, type EventOf } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'

const attempt = { executionId: ExecutionId, attempt: z.int().positive() }

export const OutputChannel = z.enum(['stdout', 'stderr'])
export type OutputChannel = z.infer<typeof OutputChannel>

/** A piece of output, at most 16 KiB of UTF-8, cut between characters. */
export const TerminalOutputRecorded = event('TerminalOutputRecorded', 1, {
  data: z.object({ ...attempt, kind: z.enum(['turn', 'command']), channel: OutputChannel }),
  content: z.object({ text: z.string() }),
})
/** Part of a text: its length in UTF-16 code units, and its arrival time in milliseconds after `begunAt`. Joined in order, the parts are the text. */
const Chunk = z.tuple([z.int().positive(), z.int().nonnegative()])
/** Text of a message while it is being written. When the message is complete, it is posted as a whole to the task's stream under the same id. */
export const MessageTextRecorded = event('MessageTextRecorded', 1, {
  data: z.object({
    ...attempt,
    messageId: MessageId,
    /** Where the text begins in the message, as an index of UTF-16 code units. */
    offset: z.number().int(),
  }),
  /** `begunAt` is when the first part arrived; with it, a replay shows each part at its time. */
  content: z.object({ text: z.string(), begunAt: z.iso.datetime(), chunks: z.array(Chunk) }),
})

export const terminalEvents = [TerminalOutputRecorded, MessageTextRecorded] as const
export type TerminalEvent = EventOf<(typeof terminalEvents)[number]>
