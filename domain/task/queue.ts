/** The queue of messages that a task has not delivered yet. */

interface Waiting {
  readonly messageId: string
}

/** Puts the queue into a new order. A message that is on its way to a runner is not in the given list and stays first. */
export function reordered<Message extends Waiting>(
  queue: readonly Message[],
  messageIds: readonly string[],
): readonly Message[] {
  return queue.toSorted((a, b) => messageIds.indexOf(a.messageId) - messageIds.indexOf(b.messageId))
}

export function without<Message extends Waiting>(
  queue: readonly Message[],
  messageId: string,
): readonly Message[] {
  return queue.filter((message) => message.messageId !== messageId)
}
