/** The chat of a task: one document a message. */
import type { ChatMessage, CommandStatus } from '../api/chat.ts'
import type { z } from 'zod'
import { sortKey, type RecordedOf } from '../kernel/event.ts'
import { parseStream } from '../kernel/ids.ts'
import type { TaskEvent } from '../task/events.ts'
import type { AnyRecorded, View } from './view.ts'

export interface MessageDocument extends Omit<ChatMessage, 'project' | 'owner' | 'images' | 'attachments'> {
  /** The position as it sorts. */
  readonly order: string
}

type ExecutionEvent = Extract<
  TaskEvent,
  { type: 'ExecutionStarted' | 'ExecutionCompleted' | 'ExecutionFailed' | 'ExecutionCancelled' }
>
type Status = z.infer<typeof CommandStatus>

export const chatView: View<MessageDocument> = {
  collection: 'messages',
  indexes: [
    ['task', 'order'],
    ['task', 'executionId'],
  ],
  touches: (event) => {
    switch (event.type) {
      case 'MessageQueued':
      case 'MessagePosted':
      case 'MessageWithdrawn':
      case 'ExecutionStarted':
      case 'ExecutionCompleted':
      case 'ExecutionFailed':
      case 'ExecutionCancelled':
        return [event.data.messageId]
      default:
        return []
    }
  },
  evolve: (message, event) => {
    switch (event.type) {
      case 'MessageQueued': {
        const isCommand = event.data.kind === 'command'
        const text = event.content?.message ?? null
        return {
          ...posted(event, event.data.messageId, text),
          messageType: isCommand ? 'command' : 'user',
          isCommand,
          commandText: isCommand ? text : null,
          commandStatus: isCommand ? 'queued' : 'pending',
          agent: event.data.agent,
          status: 'queued',
          executionId: null,
        }
      }
      case 'MessagePosted':
        return {
          ...posted(event, event.data.messageId, event.content?.message ?? null),
          messageType: event.data.messageType,
          agent: event.data.agent,
          status: 'completed',
          executionId: event.data.executionId,
        }
      case 'MessageWithdrawn':
        return undefined
      case 'ExecutionStarted':
        return fares(message, event, 'running')
      case 'ExecutionCompleted':
        return fares(message, event, (event.data.exitCode ?? 0) === 0 ? 'completed' : 'failed')
      case 'ExecutionFailed':
        return fares(message, event, 'failed')
      case 'ExecutionCancelled':
        return fares(message, event, 'cancelled')
      default:
        return message
    }
  },
}

function posted(event: AnyRecorded, id: string, message: string | null): MessageDocument {
  return {
    id,
    task: parseTask(event.stream),
    message,
    messageType: 'system',
    isCommand: false,
    commandText: null,
    isVisible: true,
    isEdited: false,
    commandStatus: 'pending',
    response: null,
    agent: null,
    createdAt: event.at,
    updatedAt: event.at,
    status: 'completed',
    executionId: null,
    order: sortKey(event.position),
    position: event.position,
    version: event.revision,
  }
}

/** How the message fares under an execution; a command also says how it ended. */
function fares(
  message: MessageDocument | undefined,
  event: RecordedOf<ExecutionEvent>,
  status: Status,
): MessageDocument | undefined {
  if (message === undefined) return undefined
  const exitCode = 'exitCode' in event.data ? event.data.exitCode : null
  return {
    ...message,
    status,
    commandStatus: message.isCommand ? status : 'pending',
    response: message.isCommand && exitCode !== null ? `exit ${exitCode}` : message.response,
    executionId: event.data.executionId,
    updatedAt: event.at,
    version: event.revision,
  }
}

export function parseTask(stream: string): string {
  const name = parseStream(stream)
  return name.kind === 'task' ? name.id : ''
}

/** What the API shows of a message document. */
export function chatMessageOf(
  document: MessageDocument,
  task: { owner: string; projectId: string },
): ChatMessage {
  const { order: _order, ...shown } = document
  const owner =
    document.messageType === 'user' || document.messageType === 'command'
      ? task.owner
      : (document.agent ?? 'system')
  return { ...shown, project: task.projectId, owner, images: [], attachments: [] }
}
