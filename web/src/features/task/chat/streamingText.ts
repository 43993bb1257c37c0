/** Messages that an agent is currently writing, kept outside of the store because they grow many times a second. */
import type { MessageDelta, MessageWords } from '#domain/api/chat.schema.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import { comparePositions, sortKey, type Position } from '#domain/kernel/event.ts'
import { createObserved, type Observed } from '../observed.ts'

export interface WrittenMessage {
  readonly messageId: string
  readonly executionId: string
  readonly text: string
  /** How much of the text is recorded, in UTF-16 code units; the rest was only received live. */
  readonly recorded: number
  /** Where it began, as a sort key. */
  readonly order: string
}

/** The messages being written, in the order they began. */
export interface Writing extends Observed<readonly WrittenMessage[]> {
  reset(deltas: readonly MessageDelta[]): void
  append(deltas: readonly MessageDelta[]): void
  appendLive(words: readonly MessageWords[]): void
  /** Nothing more will be written in this attempt: text that was not recorded is dropped. */
  settle(executionId: string): void
  /** Removes messages that are in the chat as a whole now. */
  drop(messageIds: readonly string[]): void
  wasSeen(messageId: string): boolean
}

export function createWriting(): Writing {
  const { read, subscribe, set } = createObserved<readonly WrittenMessage[]>([])
  const seen = new Set<string>()
  /** Complete messages, for which late text is ignored. */
  const whole = new Set<string>()
  const grow = (pieces: readonly (MessageDelta | MessageWords)[]) => {
    if (pieces.length === 0) return
    for (const { messageId } of pieces) seen.add(messageId)
    set(withPieces(read(), pieces))
  }
  const shrink = (left: readonly WrittenMessage[]) => {
    if (left !== read()) set(left)
  }
  return {
    read,
    subscribe,
    reset: (deltas) => set(withPieces([], deltas)),
    append: grow,
    appendLive: (words) => grow(words.filter(({ messageId }) => !whole.has(messageId))),
    settle: (executionId) => shrink(withSettled(read(), executionId)),
    drop(messageIds) {
      for (const id of messageIds) whole.add(id)
      shrink(withoutWhole(read(), messageIds))
    },
    wasSeen: (messageId) => seen.has(messageId),
  }
}

/** The order of messages without a place in the log yet: after all others. */
const latest = '\uffff'

/** Messages after more text. Each piece has its offset, so a repeated one changes nothing. */
export function withPieces(
  messages: readonly WrittenMessage[],
  pieces: readonly (MessageDelta | MessageWords)[],
): readonly WrittenMessage[] {
  const byId = new Map(messages.map((message) => [message.messageId, message]))
  for (const piece of inOrder(pieces)) {
    const { messageId, executionId, offset, text } = piece
    const isRecorded = 'position' in piece
    const before = byId.get(messageId) ?? { messageId, executionId, text: '', recorded: 0, order: latest }
    // The missing text before it will come with the recorded text.
    if (offset > before.text.length) continue
    const grown = before.text.slice(0, offset) + text
    byId.set(messageId, {
      ...before,
      text: grown.length >= before.text.length ? grown : before.text,
      ...(isRecorded && {
        recorded: Math.max(before.recorded, offset + text.length),
        order: before.order === latest ? sortKey(piece.position) : before.order,
      }),
    })
  }
  return [...byId.values()]
}

/** Messages after an execution ended: its unrecorded text is dropped. The same array when nothing changes. */
export function withSettled(
  messages: readonly WrittenMessage[],
  executionId: string,
): readonly WrittenMessage[] {
  const isCut = messages.some(
    (message) => message.executionId === executionId && message.text.length > message.recorded,
  )
  return isCut
    ? messages.flatMap((message) => (message.executionId === executionId ? settled(message) : message))
    : messages
}

/** The execution whose text being written ends with an event: it ended, or another attempt at it begins; else `null`. */
export function endOfWriting(event: TaskEventMessage): string | null {
  switch (event.type) {
    case 'ExecutionStarted':
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      return event.data.executionId
    default:
      return null
  }
}

/** Messages without those that are complete now. The same array when nothing changes. */
export function withoutWhole(
  messages: readonly WrittenMessage[],
  messageIds: readonly string[],
): readonly WrittenMessage[] {
  return messages.some(({ messageId }) => messageIds.includes(messageId))
    ? messages.filter(({ messageId }) => !messageIds.includes(messageId))
    : messages
}

function settled(message: WrittenMessage): readonly WrittenMessage[] {
  const text = message.text.slice(0, message.recorded)
  return text === '' ? [] : [{ ...message, text }]
}

/** Recorded pieces in their order, then live pieces as received. */
function inOrder(pieces: readonly (MessageDelta | MessageWords)[]) {
  const place = (piece: MessageDelta | MessageWords): Position | null =>
    'position' in piece ? piece.position : null
  return pieces.toSorted((a, b) => {
    const [one, other] = [place(a), place(b)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return comparePositions(one, other)
  })
}
