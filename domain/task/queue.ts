/** The messages of a task that wait. */

interface Waiting {
  readonly messageId: string
}

/** In this order. A message on its way to a runner is not named and stays first. */
export function reordered<Message extends Waiting>(
  queue: readonly Message[],
  messageIds: readonly string[],
): readonly Message[] {
  return queue.toSorted((a, b) => messageIds.indexOf(a.messageId) - messageIds.indexOf(b.messageId))
}

/** All but this one. */
export function without<Message extends Waiting>(
  queue: readonly Message[],
  messageId: string,
): readonly Message[] {
  return queue.filter((message) => message.messageId !== messageId)
}
