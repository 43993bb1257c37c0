/**
 * Messages that agents are writing, for viewers that know only `chat_message`. While more is written, such a viewer repeatedly gets the whole text.
 */
import type { ChatMessage, MessageFragment } from '#domain/api/chat.schema.ts'
import type { Position } from '#domain/kernel/event.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { chatMessageOf, postedAt } from '#domain/views/chat.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'

/** A message with the text that was written so far. */
export interface GrowingMessage {
  readonly messageId: string
  readonly executionId: string
  readonly begunAt: string
  readonly text: string
}

export interface GrowingMessages {
  /** Adds a piece of a message. Returns the message with its text so far if it should be sent now. */
  add(piece: Omit<MessageFragment, 'taskId'>): GrowingMessage | undefined
  /** Called when a message is complete: late pieces of it are ignored. */
  complete(messageId: string): void
  /** Called when an execution has ended. Removes and returns its messages that were not completed. */
  abandon(executionId: string): readonly GrowingMessage[]
}

/** At most this many characters of a message are sent per millisecond, because each time the message is sent from its beginning. */
const charactersPerMs = 256
/** The maximum length, in characters, of an unfinished message that is sent. */
const longest = 256 * 1024
/** The maximum number of messages that are kept, so that a sandbox cannot fill the memory. */
const mostKept = 100

export function growingMessages(now: () => number = Date.now): GrowingMessages {
  const growing = new Map<string, GrowingMessage & { readonly sentAt: number; readonly sentLength: number }>()
  const completed = new Set<string>()
  return {
    add({ messageId, executionId, offset, text: added }) {
      const at = now()
      const before = growing.get(messageId)
      const known = before?.text ?? ''
      // Without its beginning, a message cannot be shown before it is complete.
      if (completed.has(messageId) || offset > known.length || offset + added.length > longest)
        return undefined
      const grown = known.slice(0, offset) + added
      const text = grown.length >= known.length ? grown : known
      const { sentAt, sentLength, begunAt } = before ?? {
        sentAt: 0,
        sentLength: 0,
        begunAt: new Date(at).toISOString(),
      }
      const message = { messageId, executionId, begunAt, text }
      // The clock may have been set back.
      const isDue =
        text.length > sentLength && Math.abs(at - sentAt) >= Math.floor(text.length / charactersPerMs)
      growing.set(messageId, {
        ...message,
        sentAt: isDue ? at : sentAt,
        sentLength: isDue ? text.length : sentLength,
      })
      dropOldest(growing)
      return isDue ? message : undefined
    },
    complete(messageId) {
      growing.delete(messageId)
      completed.add(messageId)
      dropOldest(completed)
    },
    abandon(executionId) {
      const abandoned = [...growing.values()].filter((message) => message.executionId === executionId)
      for (const { messageId } of abandoned) growing.delete(messageId)
      return abandoned
    },
  }
}

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const [oldest] = kept.keys()
  if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
}

/** The `chat_message` with a message's text so far; `position` is the position of the last sent event. */
export function partialChatMessage(
  { messageId, executionId, begunAt, text }: GrowingMessage,
  task: TaskDocument,
  position: Position,
): ChatMessage {
  const place = { stream: taskStream(task.id), at: begunAt, position, revision: task.version }
  const written = { messageType: 'response', agent: task.agent, executionId, isPartial: true } as const
  return chatMessageOf({ ...postedAt(place, messageId, text), ...written }, task, () => '')
}
