/** The queue of a task: the messages that wait. */

interface Waiting {
  readonly messageId: string
}

/** Reorders the queue. A message that is already on its way to a runner is not in `messageIds` and stays first. */
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
