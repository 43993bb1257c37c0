/**
 * The state of the open task: the task, its chat, its tool calls and its questions. Each part is loaded as a snapshot and updated by the events of
 * the task's stream. On top of that, it contains what was sent but is not confirmed yet.
 */
import { createAction, type UnknownAction } from '@reduxjs/toolkit'
import type { ChatMessage, LogEntry } from '#domain/api/chat.schema.ts'
import type { ShownImage } from '#domain/api/images.schema.ts'
import type { ShownQuestion } from '#domain/api/questions.schema.ts'
import type { TaskEventMessage, TaskStatusChanged } from '#domain/api/socket.schema.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import { type Position, sortKey } from '#domain/kernel/event.ts'
import { chatView, type MessageDocument, messageDocumentId } from '#domain/views/chat.ts'
import { commandOf, type LogDocument, logView } from '#domain/views/commandLog.ts'
import { type QuestionDocument, questionDocumentId, questionsView } from '#domain/views/questions.ts'
import type { AgentName } from '#domain/agents.ts'
import type { ApiFault } from '../../api/fault.ts'
import { isUnknownId } from '../../api/isUnknownId.ts'
import { sessionEnded } from '../../api/session.ts'
import { rootReducer } from '../../state/rootReducer.ts'
import { type PendingChange, remainingChanges } from './chat/queue/queueChanges.ts'
import {
  failed,
  fold,
  type Folded,
  foldTask,
  type Load,
  loaded,
  loading,
  snapshot,
  unread,
  withEarlier,
  withMessageIn,
  withStatus,
} from './foldedDocuments.ts'

/** A message that was sent but is not in the chat yet. */
export interface SentMessage {
  readonly id: string
  readonly taskId: string
  readonly text: string
  readonly isCommand: boolean
  readonly agent: AgentName
  readonly images?: readonly ShownImage[]
  /** Whether it is a command that gets the project's secrets. */
  readonly withSecrets?: boolean
  readonly sentAt: string
  /** The reason why the message was refused; `null` while it is being sent. */
  readonly refused: string | null
}

export interface OpenTask {
  readonly taskId: string | null
  readonly task: Task | null
  /** The last status and progress that the server sent without the rest of the task; they may be newer than the last read of the task. */
  readonly liveStatus: TaskStatusChanged | null
  readonly readAt: number
  readonly load: Load
  readonly deleted: boolean
  readonly chat: Folded<MessageDocument>
  readonly logs: Folded<LogDocument>
  /** The questions that the agent has asked. */
  readonly questions: Folded<QuestionDocument>
  /** The unconfirmed messages of all tasks, since messages are also sent while the person looks at something else. */
  readonly sent: readonly SentMessage[]
  /** The person's changes to the queue that are not in the chat yet. */
  readonly changes: readonly PendingChange[]
  readonly seen: Position | null
}

export const nothingOpen: OpenTask = {
  taskId: null,
  task: null,
  liveStatus: null,
  readAt: -1,
  load: loading,
  deleted: false,
  chat: unread,
  logs: unread,
  questions: unread,
  sent: [],
  changes: [],
  seen: null,
}

export const taskOpened = createAction<string>('openTask/opened')
export const taskClosed = createAction<string>('openTask/closed')
export const taskLoaded = createAction<Task>('openTask/taskLoaded')
export const taskFailed = createAction<ApiFault>('openTask/taskFailed')
export const chatLoaded = createAction<{
  messages: readonly ChatMessage[]
  version: number
  more?: boolean
}>('openTask/chatLoaded')
export const chatFailed = createAction<ApiFault>('openTask/chatFailed')
export const logsLoaded = createAction<{
  logs: readonly LogEntry[]
  /** Entries from before this page that belong to tool calls that are still running. */
  open?: readonly LogEntry[]
  version: number
  more?: boolean
}>('openTask/logsLoaded')
/** Older entries were read. They include all events that the page had when it requested them. `more` says whether the server has still older ones. */
export const earlierLoaded = createAction<{
  taskId: string
  messages: readonly ChatMessage[]
  logs: readonly LogEntry[]
  more: { chat: boolean; logs: boolean }
}>('openTask/earlierLoaded')
export const logsFailed = createAction<ApiFault>('openTask/logsFailed')
export const questionsLoaded = createAction<{
  taskId: string
  questions: readonly ShownQuestion[]
  version: number
}>('openTask/questionsLoaded')
/** The server accepted a person's answer, and returned the question as it is now. */
export const questionTaken = createAction<{ taskId: string; question: ShownQuestion }>(
  'openTask/questionTaken',
)
export const questionsFailed = createAction<ApiFault>('openTask/questionsFailed')
/** New events of the task's stream, in order and without gaps. */
export const eventsCame = createAction<readonly TaskEventMessage[]>('openTask/eventsCame')
/** A message that is new, edited or withdrawn; it takes the place of its event in the order. */
export const messageCame = createAction<ChatMessage>('openTask/messageCame')
export const statusCame = createAction<TaskStatusChanged>('openTask/statusCame')
export const messageSent = createAction<SentMessage>('openTask/messageSent')
export const messageRefused = createAction<{ id: string; reason: string }>('openTask/messageRefused')
export const messageDiscarded = createAction<string>('openTask/messageDiscarded')
/** The server confirmed the message. */
export const messageTaken = createAction<ChatMessage>('openTask/messageTaken')
export const queueChanged = createAction<Pick<PendingChange, 'id' | 'change'>>('openTask/queueChanged')
/** The server confirmed the change and recorded it at `position`; without a position, the call changed nothing. */
export const queueChangeTaken = createAction<{ id: string; position: Position | undefined }>(
  'openTask/queueChangeTaken',
)
export const queueChangeDropped = createAction<string>('openTask/queueChangeDropped')

export function openTaskReducer(state: OpenTask = nothingOpen, action: UnknownAction): OpenTask {
  if (taskOpened.match(action)) return { ...nothingOpen, taskId: action.payload, sent: state.sent }
  if (taskClosed.match(action)) {
    return state.taskId === action.payload ? { ...nothingOpen, sent: state.sent } : state
  }
  if (sessionEnded.match(action)) return nothingOpen
  if (taskLoaded.match(action)) return withTask(state, action.payload)
  if (taskFailed.match(action)) {
    // When a refresh fails, the page keeps its data, unless the task is gone.
    const isShown = state.task !== null && !isUnknownId(action.payload)
    return isShown ? state : { ...state, load: { kind: 'failed', fault: action.payload } }
  }
  if (chatLoaded.match(action)) {
    const { messages, version, more } = action.payload
    const chat = snapshot(state.chat, { documents: messages.map(messageDocument), version, more })
    // The chat that was just read includes all confirmed changes, so only the unconfirmed ones are kept.
    return settled({ ...state, chat, changes: state.changes.filter(({ at }) => at === null) })
  }
  if (chatFailed.match(action)) return { ...state, chat: failed(state.chat, action.payload) }
  if (logsLoaded.match(action)) {
    const { logs, open = [], version, more } = action.payload
    const page = { documents: logs.map(logDocument), open: open.map(logDocument), version, more }
    return { ...state, logs: snapshot(state.logs, page) }
  }
  if (earlierLoaded.match(action)) {
    const { taskId, messages, logs, more } = action.payload
    if (taskId !== state.taskId) return state
    return {
      ...state,
      chat: withEarlier(state.chat, messages.map(messageDocument), more.chat),
      logs: withEarlier(state.logs, logs.map(logDocument), more.logs),
    }
  }
  if (logsFailed.match(action)) return { ...state, logs: failed(state.logs, action.payload) }
  if (questionsLoaded.match(action)) {
    const { taskId, questions, version } = action.payload
    if (taskId !== state.taskId) return state
    const documents = questions.map((question) => questionDocument(question, taskId))
    return withWaiting({ ...state, questions: snapshot(state.questions, { documents, version }) })
  }
  if (questionTaken.match(action)) {
    const { taskId, question } = action.payload
    const document = questionDocument(question, taskId)
    const known = state.questions.documents[document.id]
    if (known === undefined || known.version >= document.version) return state
    const documents = { ...state.questions.documents, [document.id]: document }
    return withWaiting({ ...state, questions: { ...state.questions, documents } })
  }
  if (questionsFailed.match(action)) return { ...state, questions: failed(state.questions, action.payload) }
  if (eventsCame.match(action)) return settled(withEvents(state, action.payload))
  if (messageCame.match(action)) return settled(withMessage(state, action.payload))
  if (statusCame.match(action)) {
    const { liveStatus: before } = state
    const liveStatus = before !== null && before.version > action.payload.version ? before : action.payload
    return { ...state, liveStatus, task: state.task && withStatus(state.task, liveStatus, state.readAt) }
  }
  if (messageSent.match(action)) {
    return { ...state, sent: [...state.sent.filter(({ id }) => id !== action.payload.id), action.payload] }
  }
  if (messageRefused.match(action)) {
    const { id, reason } = action.payload
    return {
      ...state,
      sent: state.sent.map((sent) => (sent.id === id ? { ...sent, refused: reason } : sent)),
    }
  }
  if (messageDiscarded.match(action)) {
    return { ...state, sent: state.sent.filter(({ id }) => id !== action.payload) }
  }
  if (messageTaken.match(action)) {
    const document = messageDocument(action.payload)
    const sent = state.sent.filter(({ id }) => id !== document.messageId)
    if (document.task !== state.taskId) return { ...state, sent }
    const { chat } = state
    // If events beyond this message are already folded, the folded state is better: the message may have been removed since.
    const known = document.id in chat.documents || document.version <= chat.at
    const documents = known ? chat.documents : { ...chat.documents, [document.id]: document }
    return { ...state, chat: { ...chat, documents }, sent }
  }
  if (queueChanged.match(action)) {
    return { ...state, changes: [...state.changes, { ...action.payload, at: null }] }
  }
  if (queueChangeTaken.match(action)) {
    const { id, position } = action.payload
    const changes =
      position === undefined
        ? state.changes.filter((change) => change.id !== id || change.change.kind === 'steered')
        : state.changes.map((change) => (change.id === id ? { ...change, at: position } : change))
    return settled({ ...state, changes })
  }
  if (queueChangeDropped.match(action)) {
    return { ...state, changes: state.changes.filter(({ id }) => id !== action.payload) }
  }
  return state
}

function withTask(state: OpenTask, task: Task): OpenTask {
  if (task.id !== state.taskId) return state
  const known = state.task
  // An answer that is older than the known task is discarded, never merged.
  if (known !== null && task.version < known.version) return state
  const readAt = task.version
  return { ...state, load: loaded, readAt, task: withStatus(task, state.liveStatus, readAt) }
}

function withEvents(state: OpenTask, events: readonly TaskEventMessage[]): OpenTask {
  const task = state.task && foldTask(state.task, events)
  return withWaiting({
    ...state,
    // Keeps `waitingFor` as it was, because these events may not include all open questions; `withWaiting` then updates it.
    task: task && { ...task, waitingFor: state.task?.waitingFor ?? null },
    deleted: state.deleted || (state.task !== null && task === null),
    seen: events.at(-1)?.position ?? state.seen,
    chat: fold(chatView, state.chat, events),
    logs: fold(logView, state.logs, events),
    questions: fold(questionsView, state.questions, events),
  })
}

/** The state with the kind of the first open question as the task's `waitingFor`, once the questions were read up to the task's version. */
function withWaiting(state: OpenTask): OpenTask {
  const { task, questions } = state
  if (task === null || questions.load.kind !== 'loaded' || questions.at < task.version) return state
  const waitingFor = openQuestions(questions)[0]?.kind ?? null
  return waitingFor === task.waitingFor ? state : { ...state, task: { ...task, waitingFor } }
}

/** The open questions, oldest first. */
export function openQuestions({ documents }: OpenTask['questions']): readonly QuestionDocument[] {
  return Object.values(documents)
    .filter(({ status }) => status === 'open')
    .toSorted((a, b) => (a.order < b.order ? -1 : 1))
}

function withMessage(state: OpenTask, message: ChatMessage): OpenTask {
  const { version, position, updatedAt } = message
  const { task, chat, logs } = state
  const document = messageDocument(message)
  const isNewer = task !== null && version > task.version
  return {
    ...state,
    task: isNewer ? { ...task, version, updatedAt } : task,
    seen: position,
    chat: withMessageIn(chat, document, (known) =>
      // The message keeps the place in the chat at which it was sent.
      known === undefined ? document : { ...document, position: known.position, order: known.order },
    ),
    logs: withMessageIn(logs, document, (known) => {
      if (!document.isCommand) return undefined
      const { commandText } = document
      return known === undefined
        ? commandOf(document)
        : { ...known, target: commandText, input: commandText, version }
    }),
  }
}

/** Drops sent messages and queue changes that the chat now contains. */
function settled(state: OpenTask): OpenTask {
  const { documents } = state.chat
  const documentOf = (id: string) =>
    state.taskId === null ? undefined : documents[messageDocumentId(state.taskId, id)]
  const sent = state.sent.filter(({ id, taskId }) => taskId !== state.taskId || documentOf(id) === undefined)
  const running = state.task?.status === 'running'
  const changes = remainingChanges(
    state.changes,
    state.seen,
    (id) => running && documentOf(id)?.status === 'queued',
  )
  return sent.length === state.sent.length && changes === state.changes ? state : { ...state, sent, changes }
}

/** The chat document of a message, as an event would make it: members that only the API or the socket adds are left out. */
function messageDocument(message: ChatMessage & { readonly commandId?: string }): MessageDocument {
  const {
    project: _project,
    owner: _owner,
    images: _images,
    attachments: _attachments,
    commandId: _commandId,
    id: messageId,
    ...document
  } = message
  const id = messageDocumentId(message.task, messageId)
  // Images are kept separately in `chat/picturesSlice.ts`, because their addresses expire.
  return { ...document, id, messageId, images: [], order: sortKey(message.position) }
}

function questionDocument({ id: questionId, ...shown }: ShownQuestion, task: string): QuestionDocument {
  const id = questionDocumentId(task, questionId)
  return { ...shown, id, questionId, task, order: sortKey(shown.position) }
}

function logDocument(entry: LogEntry): LogDocument {
  return { ...entry, order: sortKey(entry.position) }
}

declare module '../../state/rootReducer.ts' {
  interface FeatureSlices {
    openTask: OpenTask
  }
}
rootReducer.inject({ reducerPath: 'openTask', reducer: openTaskReducer })

interface WithOpenTask {
  readonly session: unknown
  readonly openTask?: OpenTask
}
/** The open task; an empty state until the first action after the page's chunk was loaded. */
export const selectOpenTask = (state: WithOpenTask): OpenTask => state.openTask ?? nothingOpen
