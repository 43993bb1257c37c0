/** A viewer of a task: a part of a page that the live connection notifies of what happens to the task. */
import type { ChatMessage, MessageDelta, MessageFragment, TerminalOutput } from '#domain/api/chat.schema.ts'
import type { JoinAnswer, TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import type { LiveSocket } from './liveSocket.ts'
import type { Position } from '#domain/kernel/event.ts'

/** Joins the task's room to receive everything after `last`, or from now on if `last` is `null`. If no answer comes, that counts as a refusal. */
export type Join = (last: Position | null) => Promise<JoinAnswer>

export interface LiveWords extends MessageFragment {
  readonly isThought?: true
}

export interface Viewer {
  readonly taskId: string
  /**
   * Called whenever the connection is established, also after a loss; the viewer must then join its room. `socket` is for the viewer's own requests.
   */
  connected(join: Join, socket?: LiveSocket): void
  taskEvent(event: TaskEventMessage): void
  /** A message that is new, edited or withdrawn. */
  chatMessage(message: ChatMessage): void
  terminalOutput(output: TerminalOutput): void
  /** A piece of a message, or of a thought, that is not recorded yet. */
  words(words: LiveWords): void
  messageDelta(delta: MessageDelta): void
  statusChanged(change: TaskStatusChanged): void
  /** Called when more was missed than the server sends: the viewer must read the history again. */
  resync(): void
}
