/** The socket's messages about chat messages, for tests of the client: a short form of `services/gateway/live/socketMessages.ts`. */
import type { ChatMessage } from '#domain/api/chat.schema.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import { chatMessageOf, chatView, type MessageDocument } from '#domain/views/chat.ts'
import { foldView } from './fold.ts'

const typesOfMessages = new Set([
  'MessageQueued',
  'MessagePosted',
  'AgentActedUnasked',
  'ModelRetryScheduled',
  'MessageEdited',
  'MessageWithdrawn',
])

/** The `chat_message` that the server sends in place of an event of a task with this log; `undefined` when it sends the event. */
export function messageInPlaceOf(
  log: readonly TaskEventMessage[],
  event: TaskEventMessage,
): ChatMessage | undefined {
  if (!typesOfMessages.has(event.type) || !('messageId' in event.data)) return undefined
  const { messageId } = event.data
  const { revision: version, position, at: updatedAt } = event
  const isVisible = event.type !== 'MessageWithdrawn'
  const upTo = log.filter(({ revision }) => revision < version || (isVisible && revision === version))
  const documents = foldView<MessageDocument>(chatView, new Map(), upTo)
  const message = [...documents.values()].find((document) => document.messageId === messageId)
  if (message === undefined) return undefined
  const shown = chatMessageOf(
    message,
    { owner: '', projectId: '' },
    ({ imageId }) => `/api/images/${imageId}`,
  )
  return { ...shown, isVisible, version, position, updatedAt }
}
