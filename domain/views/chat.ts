/** The chat of a task: one document per message. */
import type { ChatMessage } from '../api/chat.schema.ts'
import { sortKey, type RecordedOf } from '../kernel/event.ts'
import { parseStream } from '../kernel/streams.ts'
import type { NamedImage } from '../task/commands.ts'
import type { TaskEvent } from '../task/events.ts'
import { retrySentence, timeInUtc } from '../task/modelRetry.ts'
import type { EndStatus } from '../task/phase.ts'
import { imagesOf, shownImage, type AddressOf } from './images.ts'
import { isOneOf, type AnyRecorded, type Belonging, type View } from './view.ts'

export interface MessageDocument extends Omit<ChatMessage, 'project' | 'owner' | 'images' | 'attachments'> {
  readonly images: readonly NamedImage[]
  /** The message's own id, which a client may choose, so that it is only unique within the task. */
  readonly messageId: string
  /** The position in a sortable form. */
  readonly order: string
}

export type ExecutionEvent = Extract<TaskEvent, { type: 'ExecutionStarted' }> | EndEvent

export type EndEvent = Extract<
  TaskEvent,
  { type: 'ExecutionCompleted' | 'ExecutionFailed' | 'ExecutionCancelled' }
>

const ofMessage = [
  'MessageQueued',
  'MessagePosted',
  'AgentActedUnasked',
  'ModelRetryScheduled',
  'MessageWithdrawn',
  'MessageEdited',
  'MessageDelivered',
  'ExecutionStarted',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
  'CommandOutputRecorded',
  'SecretsGranted',
] as const

export const chatView: View<MessageDocument> = {
  collection: 'messages',
  version: 1,
  streams: ['task'],
  types: [...ofMessage, 'QueueReordered', 'TaskDeleted'],
  indexes: [
    ['task', 'order'],
    ['task', 'executionId'],
    ['task', 'executionId', 'messageType', 'order'],
  ],
  touches: (event) => {
    const reordered = event.type === 'QueueReordered' ? event.data.messageIds : []
    const ids = isOneOf(ofMessage, event) ? [event.data.messageId] : reordered
    return ids.map((id) => messageDocumentId(parseTask(event.stream), id))
  },
  goneWith: goneWithTask,
  evolve: (message, event) => {
    // Clients may choose message ids: a second message with the same id is ignored.
    if (message !== undefined && (event.type === 'MessageQueued' || event.type === 'MessagePosted'))
      return message
    switch (event.type) {
      case 'MessageQueued': {
        const isCommand = event.data.kind === 'command'
        const text = event.content?.message ?? null
        return {
          ...posted(event, event.data.messageId, text),
          images: imagesOf(event),
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
      case 'AgentActedUnasked':
        return { ...ofSystem(event, unaskedWords(event.content)), agent: event.data.agent }
      case 'ModelRetryScheduled': {
        const { code, retryAt, agent } = event.data
        const message = retrySentence(code, timeInUtc(retryAt))
        return { ...ofSystem(event, message), agent, modelRetry: { code, retryAt } }
      }
      case 'MessageWithdrawn':
        return undefined
      case 'MessageEdited': {
        const text = event.content?.message ?? null
        const written = { message: text, commandText: message?.isCommand ? text : null, isEdited: true }
        return message && { ...message, ...written, updatedAt: event.at, version: event.revision }
      }
      case 'MessageDelivered':
        // Only a message that was sent to a running turn is still queued here; the message of an execution has the status of that execution.
        return message?.status === 'queued'
          ? {
              ...message,
              status: 'completed',
              isSteering: true,
              executionId: event.data.executionId,
              updatedAt: event.at,
              version: event.revision,
            }
          : message
      case 'QueueReordered': {
        const queueIndex = event.data.messageIds.indexOf(message?.messageId ?? '')
        return message && { ...message, queueIndex, version: event.revision }
      }
      case 'SecretsGranted':
        return message && { ...message, withSecrets: true as const }
      case 'ExecutionStarted':
      case 'ExecutionCompleted':
      case 'ExecutionFailed':
      case 'ExecutionCancelled':
        return message && { ...message, ...faredIn(event, message) }
      case 'CommandOutputRecorded': {
        const response = event.content?.output ?? null
        return message && { ...message, response, updatedAt: event.at, version: event.revision }
      }
      default:
        return message
    }
  },
}

/** Compares queued messages by their place: first those that a person reordered, in that order, then the others. */
export function byPlaceInQueue(
  a: Pick<MessageDocument, 'queueIndex' | 'order'>,
  b: Pick<MessageDocument, 'queueIndex' | 'order'>,
): number {
  const places = (a.queueIndex ?? Infinity) - (b.queueIndex ?? Infinity)
  if (places !== 0 && !Number.isNaN(places)) return places
  return a.order < b.order ? -1 : 1
}

export function messageDocumentId(taskId: string, messageId: string): string {
  return `${taskId}:${messageId}`
}

function posted(event: AnyRecorded, messageId: string, message: string | null): MessageDocument {
  const task = parseTask(event.stream)
  return {
    id: messageDocumentId(task, messageId),
    messageId,
    task,
    message,
    messageType: 'system',
    isCommand: false,
    commandText: null,
    isVisible: true,
    isEdited: false,
    commandStatus: 'pending',
    response: null,
    agent: null,
    queueIndex: null,
    images: [],
    createdAt: event.at,
    updatedAt: event.at,
    status: 'completed',
    executionId: null,
    order: sortKey(event.position),
    position: event.position,
    version: event.revision,
  }
}

function ofSystem(
  event: RecordedOf<Extract<TaskEvent, { type: 'AgentActedUnasked' | 'ModelRetryScheduled' }>>,
  message: string | null,
): MessageDocument {
  const { messageId, executionId } = event.data
  return { ...posted(event, messageId, message), executionId }
}

/** The text of a message about actions that nobody requested; `null` when it was erased. */
function unaskedWords(content: { readonly said: string } | null): string | null {
  if (content === null) return null
  const happened = 'The agent worked on its own between messages; nobody had asked it.'
  return content.said === '' ? happened : `${happened} It said:\n\n${content.said}`
}

/** The status of an execution's message. For a command also how it ended, followed by its last output. */
export function faredIn(
  event: RecordedOf<ExecutionEvent>,
  { isCommand, response: printed }: Pick<MessageDocument, 'isCommand' | 'response'>,
) {
  const status = fateOf(event, isCommand)
  const isOver = isCommand && event.type !== 'ExecutionStarted'
  return {
    status,
    commandStatus: isCommand ? status : ('pending' as const),
    response: isOver ? [endOf(event), printed].filter((text) => text !== null).join('\n') || null : null,
    executionId: event.data.executionId,
    updatedAt: event.at,
    version: event.revision,
  }
}

/** How a command ended, in one line: its exit code, or why it was ended. */
export function endOf(event: RecordedOf<ExecutionEvent>): string | null {
  const exitCode = 'exitCode' in event.data ? event.data.exitCode : null
  if (exitCode !== null) return `exit ${exitCode}`
  switch (event.type) {
    case 'ExecutionFailed':
      return event.content?.reason.replaceAll(/\s+/g, ' ') ?? null
    case 'ExecutionCancelled':
      return 'cancelled'
    default:
      return null
  }
}

/** The line of a command's response that says how it ended, without the output. */
export function endIn(response: string): string {
  return response.split('\n', 1)[0] ?? ''
}

function fateOf(event: RecordedOf<ExecutionEvent>, isCommand: boolean): 'running' | EndStatus {
  return event.type === 'ExecutionStarted' ? 'running' : outcomeOf(event, isCommand)
}

export function outcomeOf(event: RecordedOf<EndEvent>, isCommand: boolean): EndStatus {
  switch (event.type) {
    case 'ExecutionCompleted':
      // A command that ran to its end has failed if its exit code says so. Turns have no exit code.
      return isCommand && (event.data.exitCode ?? 0) !== 0 ? 'failed' : 'completed'
    case 'ExecutionFailed':
      return 'failed'
    case 'ExecutionCancelled':
      return 'cancelled'
  }
}

export function parseTask(stream: string): string {
  const name = parseStream(stream)
  return name.kind === 'task' ? name.id : ''
}

/** The `goneWith` of views whose documents belong to tasks. */
export function goneWithTask(event: AnyRecorded): Belonging | undefined {
  return event.type === 'TaskDeleted' ? { field: 'task', value: parseTask(event.stream) } : undefined
}

/** A message document in the form of the API; `addressOf` makes the addresses of its images. */
export function chatMessageOf(
  document: MessageDocument,
  task: { owner: string; projectId: string },
  addressOf: AddressOf,
): ChatMessage {
  const { order: _order, messageId: id, images: kept, ...shown } = document
  const owner =
    document.messageType === 'user' || document.messageType === 'command'
      ? task.owner
      : (document.agent ?? 'system')
  const images = kept.map((image) => shownImage(image, document.task, addressOf))
  const attachments = images.map(({ url, name, type }) => ({ path: url, name, mimeType: type }))
  return { ...shown, id, project: task.projectId, owner, images, attachments }
}
