/** Messages and thoughts that an agent is currently writing, kept outside of the store because they grow many times a second. */
import type { MessageDelta } from '#domain/api/chat.schema.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import { comparePositions, sortKey, type Position } from '#domain/kernel/event.ts'
import type { LiveWords } from '../../../live/viewer.ts'
import { createObserved, type Observed } from '../observedValue.ts'

export interface WrittenMessage {
  readonly messageId: string
  readonly executionId: string
  readonly text: string
  /** How many UTF-16 code units of the text are recorded; the rest was only received live. */
  readonly recorded: number
  /** The sort key of the place where the message began. */
  readonly order: string
  /** Set for a thought; `begins` is how many UTF-16 code units of its beginning were missed. */
  readonly thought?: { readonly begins: number }
}

/** The messages that are being written, in the order in which they began. */
export interface Writing extends Observed<readonly WrittenMessage[]> {
  reset(deltas: readonly MessageDelta[]): void
  append(deltas: readonly MessageDelta[]): void
  appendLive(words: readonly LiveWords[]): void
  /** Drops the unrecorded text of an execution in which nothing more will be written. */
  settle(executionId: string): void
  /** Removes messages that the chat now contains as a whole. */
  drop(messageIds: readonly string[]): void
  wasSeen(messageId: string): boolean
}

export function createWriting(): Writing {
  const { read, subscribe, set } = createObserved<readonly WrittenMessage[]>([])
  const seen = new Set<string>()
  /** Ids of complete messages, for which late text is ignored. */
  const whole = new Set<string>()
  const grow = (all: readonly (MessageDelta | LiveWords)[]) => {
    const pieces = all.filter(({ messageId }) => !whole.has(messageId))
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
    appendLive: grow,
    settle: (executionId) => shrink(withSettled(read(), executionId)),
    drop(messageIds) {
      for (const id of messageIds) whole.add(id)
      shrink(withoutWhole(read(), messageIds))
    },
    wasSeen: (messageId) => seen.has(messageId),
  }
}

/** The sort key of messages without a place in the log: they sort after all others. */
const latest = '\uffff'

/**
 * Returns the messages with the pieces of text added. Each piece has its offset, so a repeated piece changes nothing, except that a thought may
 * shrink.
 */
export function withPieces(
  messages: readonly WrittenMessage[],
  pieces: readonly (MessageDelta | LiveWords)[],
): readonly WrittenMessage[] {
  const byId = new Map(messages.map((message) => [message.messageId, message]))
  for (const piece of inOrder(pieces)) {
    const { messageId, executionId, offset, text } = piece
    const isRecorded = 'position' in piece
    if ('isThought' in piece) {
      byId.set(messageId, thoughtWith(byId.get(messageId), piece))
      continue
    }
    const before = byId.get(messageId) ?? { messageId, executionId, text: '', recorded: 0, order: latest }
    // The text that is missing before this piece will come with the recorded text.
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

/**
 * A thought with a further piece. A piece that does not continue the thought replaces it: the thought's beginning was missed, or is written again.
 */
function thoughtWith(
  before: WrittenMessage | undefined,
  { messageId, executionId, offset, text }: LiveWords,
): WrittenMessage {
  const { begins } = before?.thought ?? { begins: 0 }
  const known = before?.text ?? ''
  const isContinued = offset >= begins && offset <= begins + known.length
  return {
    messageId,
    executionId,
    text: isContinued ? known.slice(0, offset - begins) + text : text,
    recorded: 0,
    order: latest,
    thought: { begins: isContinued ? begins : offset },
  }
}

/** The messages without the unrecorded text of the execution `executionId`. The same array when nothing changes. */
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

/** The id of the execution whose text ends with this event: it ended, or a new attempt at it begins. Otherwise `null`. */
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

/** The messages without those that are complete now. The same array when nothing changes. */
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

/** The recorded pieces in their order, then the live pieces in the order in which they arrived. */
function inOrder(pieces: readonly (MessageDelta | LiveWords)[]) {
  const place = (piece: MessageDelta | LiveWords): Position | null =>
    'position' in piece ? piece.position : null
  return pieces.toSorted((a, b) => {
    const [one, other] = [place(a), place(b)]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return comparePositions(one, other)
  })
}
