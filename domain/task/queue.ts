/** The queue of a task's messages and commands that have not been delivered yet. */

interface Waiting {
  readonly messageId: string
}

/** Puts the queue into the order of `messageIds`. A message that is missing in `messageIds` is on its way to a runner, and comes first. */
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
