/** Messages that an agent is writing now, outside of the store: they grow many times a second. */
import type { MessageDelta } from '#domain/api/chat.ts'
import { comparePositions, sortKey, type Position } from '#domain/kernel/event.ts'

export interface WrittenMessage {
  readonly messageId: string
  readonly executionId: string
  readonly text: string
  /** Where it began, as it sorts. */
  readonly order: string
}

export interface Writing {
  /** The messages that are being written, in the order they began. The same array until something changes. */
  read(): readonly WrittenMessage[]
  subscribe(listener: () => void): () => void
  reset(deltas: readonly MessageDelta[]): void
  append(deltas: readonly MessageDelta[]): void
  /** These stand in the chat as a whole now. */
  drop(messageIds: readonly string[]): void
  /** Whether it was seen being written since the page was opened. */
  wasSeen(messageId: string): boolean
}

export function createWriting(): Writing {
  let messages: readonly WrittenMessage[] = []
  const seen = new Set<string>()
  const listeners = new Set<() => void>()
  const change = (next: readonly WrittenMessage[]) => {
    messages = next
    for (const listener of listeners) listener()
  }
  return {
    read: () => messages,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    reset: (deltas) => change(written([], deltas)),
    append(deltas) {
      if (deltas.length === 0) return
      for (const { messageId } of deltas) seen.add(messageId)
      change(written(messages, deltas))
    },
    drop(messageIds) {
      if (messages.some(({ messageId }) => messageIds.includes(messageId))) {
        change(messages.filter(({ messageId }) => !messageIds.includes(messageId)))
      }
    },
    wasSeen: (messageId) => seen.has(messageId),
  }
}

/** Messages after more of them was written. A piece says where it begins, so one that comes twice changes nothing. */
export function written(
  messages: readonly WrittenMessage[],
  deltas: readonly MessageDelta[],
): readonly WrittenMessage[] {
  const byId = new Map(messages.map((message) => [message.messageId, message]))
  for (const { messageId, executionId, offset, text, position } of inOrder(deltas)) {
    const before = byId.get(messageId)
    if (before === undefined) {
      byId.set(messageId, { messageId, executionId, text, order: sortKey(position) })
    } else if (offset <= before.text.length) {
      const whole = before.text.slice(0, offset) + text
      if (whole.length >= before.text.length) byId.set(messageId, { ...before, text: whole })
    }
  }
  return [...byId.values()]
}

function inOrder<Placed extends { readonly position: Position }>(
  items: readonly Placed[],
): readonly Placed[] {
  return items.toSorted((a, b) => comparePositions(a.position, b.position))
}
