/**
 * The events of a task's terminal: printed output, and messages while they are being written. No decider is needed, because one runner at a time
 * appends to the stream, and expects an exact revision.
 */
import { z } from 'zod'
import { event, type EventOf } from '../kernel/event.schema.ts'
import { ExecutionId, MessageId } from '../kernel/ids.schema.ts'
import { shellEnds } from './shells.ts'

const attempt = { executionId: ExecutionId, attempt: z.int().positive() }

export const OutputChannel = z.enum(['stdout', 'stderr'])
export type OutputChannel = z.infer<typeof OutputChannel>

/** A piece of output, at most 16 KiB of UTF-8. Cuts between pieces never split a character. */
export const TerminalOutputRecorded = event('TerminalOutputRecorded', 1, {
  data: z.object({ ...attempt, kind: z.enum(['turn', 'command']), channel: OutputChannel }),
  content: z.object({ text: z.string() }),
})
/** A piece of what a person's shell printed on a terminal of this size. `ended` is set in the last piece. */
export const ShellOutputRecorded = event('ShellOutputRecorded', 1, {
  data: z.object({
    shellId: ExecutionId,
    rows: z.int().positive(),
    columns: z.int().positive(),
    ended: z.enum(shellEnds).nullable(),
  }),
  content: z.object({ text: z.string() }),
})
/** One of the parts in which a text arrived: its length in UTF-16 code units, and the time of its arrival in ms after `begunAt`. */
const Chunk = z.tuple([z.int().positive(), z.int().nonnegative()])
/** A piece of a message that is still being written. When the message is complete, the task's stream gets the whole message with the same id. */
export const MessageTextRecorded = event('MessageTextRecorded', 1, {
  data: z.object({
    ...attempt,
    messageId: MessageId,
    /** Where this piece begins in the message, in UTF-16 code units. */
    offset: z.number().int(),
  }),
  /** `begunAt` is when the first part arrived. With it, a replay can show each part at its time. */
  content: z.object({ text: z.string(), begunAt: z.iso.datetime(), chunks: z.array(Chunk) }),
})

export const terminalEvents = [TerminalOutputRecorded, ShellOutputRecorded, MessageTextRecorded] as const
export type TerminalEvent = EventOf<(typeof terminalEvents)[number]>
