/** Turns recorded events into the socket messages of the product specification. Has no side effects. */
import type { ServerEvents, TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import { taskEvents } from '#domain/task/events.ts'
import { chatMessageOf, chatView, executionFieldsAfter, type MessageDocument } from '#domain/views/chat.ts'
import type { AddressOf } from '#domain/views/images.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { shownQuestion, type QuestionDocument } from '#domain/views/questions.ts'
import { messageDeltaOf, terminalOutputOf } from '#domain/views/terminal.ts'
import type { AnyRecorded } from '#domain/views/view.ts'

/** A socket message: its name and its payload. */
export type SocketMessage = {
  [Name in keyof ServerEvents]: readonly [name: Name, payload: Parameters<ServerEvents[Name]>[0]]
}[keyof ServerEvents]

/** The context of an event: the task's document before and after it. Without the document before it, the status counts as changed. */
export interface Around {
  readonly before: TaskDocument | undefined
  readonly after: TaskDocument | undefined
  /** Whether the event belongs to an execution that runs a command. */
  readonly isCommand: boolean
  /** The message that the event edited, as it is afterwards, or the message that the event withdrew, as it was before. */
  readonly changedMessage?: MessageDocument | undefined
  /** The message of the command that the event ended, as it is afterwards. */
  readonly endedCommand?: MessageDocument | undefined
  /** The question that the event is about, as it is after the event. */
  readonly question?: QuestionDocument | undefined
}

/** The messages for an event; `addressOf` makes the addresses of a message's images. */
export function socketMessagesOf(
  event: AnyRecorded,
  { before, after, isCommand, changedMessage, endedCommand, question }: Around,
  addressOf: AddressOf,
): SocketMessage[] {
  switch (event.type) {
    case 'TerminalOutputRecorded': {
      const output = { ...terminalOutputOf(event), commandId: event.meta.commandId }
      const { taskId, type, content, executionId } = output
      const about = { taskId, type, executionId, ...placeOf(event) }
      const command: SocketMessage = ['command_output', { ...about, output: content }]
      return event.data.kind === 'command'
        ? [['terminal_output', output], command]
        : [['terminal_output', output]]
    }
    case 'ShellOutputRecorded':
      return [['terminal_output', { ...terminalOutputOf(event), commandId: event.meta.commandId }]]
    case 'MessageTextRecorded':
      return [['chat_message_delta', { ...messageDeltaOf(event), commandId: event.meta.commandId }]]
    case 'MessageQueued':
    case 'AgentActedUnasked':
    case 'ModelRetryScheduled':
    case 'MessagePosted': {
      const message = chatView.evolve(undefined, event, '')
      return message && after ? [messageSaying(message, event, after, addressOf)] : []
    }
    case 'MessageEdited':
      return changedMessage && after
        ? [messageSaying(changedMessage, event, after, addressOf)]
        : [['task_event', event]]
    case 'MessageWithdrawn':
      return changedMessage && after
        ? [messageSaying({ ...changedMessage, isVisible: false }, event, after, addressOf)]
        : [['task_event', event]]
    case 'ExecutionStarted':
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      return [
        ['task_event', event],
        ...executionSayings(event, after, { isCommand, response: endedCommand?.response ?? null }),
        ...statusSayings(event, before, after),
      ]
    case 'QuestionAsked':
    case 'QuestionAnswered':
    case 'QuestionWithdrawn':
      return [['task_event', event], ...(question ? [questionSaying(event, question)] : [])]
    default:
      return isTaskEvent(event) ? [['task_event', event], ...statusSayings(event, before, after)] : []
  }
}

const typesOfTasks = new Set<string>(taskEvents.map(({ type }) => type))

function isTaskEvent(event: AnyRecorded): event is TaskEventMessage {
  return typesOfTasks.has(event.type)
}

/** A `chat_message` with the whole chat message, and with the position and revision of the event. */
function messageSaying(
  message: MessageDocument,
  event: AnyRecorded,
  task: TaskDocument,
  addressOf: AddressOf,
): SocketMessage {
  const shown = chatMessageOf(message, task, addressOf)
  return ['chat_message', { ...shown, updatedAt: event.at, ...placeOf(event) }]
}

const questionChanges = {
  QuestionAsked: 'question_asked',
  QuestionAnswered: 'question_answered',
  QuestionWithdrawn: 'question_withdrawn',
} as const

function questionSaying(
  event: Extract<AnyRecorded, { type: keyof typeof questionChanges }>,
  question: QuestionDocument,
): SocketMessage {
  const change = { taskId: question.task, question: shownQuestion(question), ...placeOf(event) }
  return [questionChanges[event.type], change]
}

export type ExecutionEvent = Parameters<typeof executionFieldsAfter>[0]

function executionSayings(
  event: ExecutionEvent,
  task: TaskDocument | undefined,
  { isCommand, response: known }: Pick<MessageDocument, 'isCommand' | 'response'>,
): SocketMessage[] {
  if (!task) return []
  const { status, commandStatus, response: end } = executionFieldsAfter(event, { isCommand, response: null })
  const response = status === 'running' ? null : (known ?? end)
  const { messageId, executionId } = event.data
  const about = { taskId: task.id, messageId, ...placeOf(event) }
  const changed: SocketMessage = ['chat_message_status_changed', { ...about, commandStatus, response }]
  if (!isCommand || status === 'running') return [changed]
  const exitCode = 'exitCode' in event.data ? event.data.exitCode : null
  return [changed, [`command_${status}`, { ...about, executionId, exitCode }]]
}

function statusSayings(
  event: AnyRecorded,
  before: TaskDocument | undefined,
  after: TaskDocument | undefined,
): SocketMessage[] {
  if (!after || (before?.status === after.status && before.progress === after.progress)) return []
  return [['task_status_changed', statusOf(event, after)]]
}

/** The `task_status_changed` message for the task after an event. */
export function statusOf(event: AnyRecorded, task: TaskDocument): TaskStatusChanged {
  return { taskId: task.id, status: task.status, progress: task.progress, ...placeOf(event) }
}

function placeOf(event: AnyRecorded) {
  return { position: event.position, version: event.revision, commandId: event.meta.commandId }
}
