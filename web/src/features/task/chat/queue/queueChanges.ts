/**
 * A person's changes to the queue that are not in the log yet, applied to the waiting messages. A change is dropped when the server refused it, or
 * once the page has read up to the position in the server's answer (see `remainingChanges`). Pure.
 */
import type { MessageDocument } from '#domain/views/chat.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'

export type QueueChange =
  | { readonly kind: 'edited'; readonly messageId: string; readonly text: string }
  | { readonly kind: 'withdrawn'; readonly messageId: string }
  | { readonly kind: 'steered'; readonly messageId: string }
  | { readonly kind: 'reordered'; readonly messageIds: readonly string[] }

export interface PendingChange {
  readonly id: string
  readonly change: QueueChange
  /** The position of the change in the log; `null` until the server has answered. */
  readonly at: Position | null
}

export interface WaitingMessage extends MessageDocument {
  /** Whether the message is being sent to the running turn, so that it can no longer be changed. */
  readonly isBeingSteered: boolean
}

export function withChanges(
  queue: readonly MessageDocument[],
  pending: readonly PendingChange[],
): readonly WaitingMessage[] {
  return pending.reduce<readonly WaitingMessage[]>(
    (messages, { change }) => withChange(messages, change),
    queue.map((message) => ({ ...message, isBeingSteered: false })),
  )
}

function withChange(messages: readonly WaitingMessage[], change: QueueChange): readonly WaitingMessage[] {
  switch (change.kind) {
    case 'edited':
      return messages.map((message) =>
        message.messageId === change.messageId
          ? { ...message, message: change.text, commandText: message.isCommand ? change.text : null }
          : message,
      )
    case 'withdrawn':
      return messages.filter(({ messageId }) => messageId !== change.messageId)
    case 'steered':
      return messages.map((message) =>
        message.messageId === change.messageId ? { ...message, isBeingSteered: true } : message,
      )
    case 'reordered': {
      const places = new Map(change.messageIds.map((id, place) => [id, place]))
      const placeOf = ({ messageId }: WaitingMessage) => places.get(messageId) ?? places.size
      // Messages that arrived after the reordering stay at the end.
      return messages.toSorted((a, b) => placeOf(a) - placeOf(b))
    }
  }
}

/**
 * Returns the changes in `pending` that are still pending once the page has read the log up to `seen`. A `steered` change is pending until its
 * message has left the queue.
 */
export function remainingChanges(
  pending: readonly PendingChange[],
  seen: Position | null,
  waits: (messageId: string) => boolean,
): readonly PendingChange[] {
  const left = pending.filter(({ change, at }) => {
    if (change.kind === 'steered') return waits(change.messageId)
    return at === null || seen === null || comparePositions(at, seen) > 0
  })
  return left.length === pending.length ? pending : left
}

/** `ids` with `id` moved to the index `to`; the same array when `id` is already there. */
export function moved(ids: readonly string[], id: string, to: number): readonly string[] {
  const place = Math.max(0, Math.min(ids.length - 1, to))
  const others = ids.filter((other) => other !== id)
  return ids.indexOf(id) === place ? ids : others.toSpliced(place, 0, id)
}
