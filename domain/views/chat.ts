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
  /** The message's own id. It is unique only within the task, because a client may choose it. */
  readonly messageId: string
  /** The position of the message's first event, as a text by which messages are sorted. */
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
          ...postedAt(event, event.data.messageId, text),
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
          ...postedAt(event, event.data.messageId, event.content?.message ?? null),
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
        // Only a message that was sent to a running turn still has the status `queued`. Other messages have the status of their execution.
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
        return message && { ...message, ...executionFieldsAfter(event, message) }
      case 'CommandOutputRecorded': {
        const response = event.content?.output ?? null
        return message && { ...message, response, updatedAt: event.at, version: event.revision }
      }
      default:
        return message
    }
  },
}

/** Compares queued messages by their place. Messages that a person put in order come first, and then the others by time. */
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

/** A system message with this text, at the time and position of the event. */
export function postedAt(
  event: Pick<AnyRecorded, 'stream' | 'at' | 'position' | 'revision'>,
  messageId: string,
  message: string | null,
): MessageDocument {
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
  return { ...postedAt(event, messageId, message), executionId }
}

/** The text of the message for `AgentActedUnasked`; `null` when the event's content was erased. */
function unaskedWords(content: { readonly said: string } | null): string | null {
  if (content === null) return null
  const happened = 'The agent worked on its own between messages; nobody had asked it.'
  return content.said === '' ? happened : `${happened} It said:\n\n${content.said}`
}

/** The fields of an execution's message that the event changes: its status and, for a finished command, its response. */
export function executionFieldsAfter(
  event: RecordedOf<ExecutionEvent>,
  { isCommand, response: printed }: Pick<MessageDocument, 'isCommand' | 'response'>,
) {
  const status = statusAfter(event, isCommand)
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

/** A line that says how a command ended: its exit code, why it failed, or that it was cancelled; `null` when nothing is known. */
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

/** The first line of the response of a command that has ended. It says how the command ended, if that is known. */
export function endIn(response: string): string {
  return response.split('\n', 1)[0] ?? ''
}

function statusAfter(event: RecordedOf<ExecutionEvent>, isCommand: boolean): 'running' | EndStatus {
  return event.type === 'ExecutionStarted' ? 'running' : outcomeOf(event, isCommand)
}

export function outcomeOf(event: RecordedOf<EndEvent>, isCommand: boolean): EndStatus {
  switch (event.type) {
    case 'ExecutionCompleted':
      // A command that ran to its end has failed if its exit code is not 0. Turns have no exit code.
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

/** `goneWith` for views whose documents belong to tasks: all documents of a deleted task are removed. */
export function goneWithTask(event: AnyRecorded): Belonging | undefined {
  return event.type === 'TaskDeleted' ? { field: 'task', value: parseTask(event.stream) } : undefined
}

/** The message as the API shows it. `addressOf` makes the addresses of its images. */
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
