/** The context that is needed to turn an event into socket messages: its task, and the chat message or question that it is about. */
import type { AnyRecorded } from '#domain/views/view.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { chatView, messageDocumentId } from '#domain/views/chat.ts'
import { questionDocumentId, questionsView } from '#domain/views/questions.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { project } from '#domain/views/view.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Around, ExecutionEvent } from './socketMessages.ts'

/** The data for socket messages that is neither in the event nor in its task. */
export type EventContext = Pick<Around, 'isCommand' | 'changedMessage' | 'endedCommand' | 'question'>
export const noContext: EventContext = { isCommand: false }

type Reads = Pick<Documents, 'asOf'>

/** The task after the event: `known.task` with the event applied, or read from `documents` if `known` is undefined. */
export async function taskAfter(
  documents: Reads,
  known: { readonly task: TaskDocument | undefined } | undefined,
  event: AnyRecorded,
  taskId: string,
): Promise<TaskDocument | undefined> {
  if (known) return project(tasksView, known.task, event, taskId)
  const head = { revision: event.revision, hash: event.meta.hash }
  return documents.asOf(tasksView, event.stream, taskId, head)
}

/** Reads the documents that the messages for an event need in addition to the event. */
export async function contextOf(
  documents: Reads,
  event: AnyRecorded,
  task: TaskDocument | undefined,
  taskId: string,
): Promise<EventContext> {
  if (event.type === 'MessageEdited') {
    return {
      isCommand: false,
      changedMessage: await messageAsOf(documents, event, taskId, event.data.messageId),
    }
  }
  if (event.type === 'MessageWithdrawn') {
    const before = { position: event.position, stream: event.stream, revision: event.revision - 1 }
    return {
      isCommand: false,
      changedMessage: await messageAsOf(documents, { ...event, ...before }, taskId, event.data.messageId),
    }
  }
  if (
    event.type === 'QuestionAsked' ||
    event.type === 'QuestionAnswered' ||
    event.type === 'QuestionWithdrawn'
  ) {
    const head = { revision: event.revision, hash: event.meta.hash }
    const id = questionDocumentId(taskId, event.data.questionId)
    return {
      isCommand: false,
      question: await documents.asOf(questionsView, taskStream(taskId), id, head),
    }
  }
  const isCommand = await isOfCommand(documents, event, task, taskId)
  if (!isCommand || !isExecutionEvent(event) || event.type === 'ExecutionStarted') return { isCommand }
  return { isCommand, endedCommand: await messageAsOf(documents, event, taskId, event.data.messageId) }
}

function messageAsOf(documents: Reads, event: AnyRecorded, taskId: string, messageId: string) {
  const head = { revision: event.revision, hash: event.meta.hash }
  return documents.asOf(chatView, taskStream(taskId), messageDocumentId(taskId, messageId), head)
}

/**
 * Whether the event's execution runs a command. A task's document has only its current execution; for an earlier one, the message that it worked on
 * is read.
 */
async function isOfCommand(
  documents: Reads,
  event: AnyRecorded,
  task: TaskDocument | undefined,
  taskId: string,
) {
  if (!isExecutionEvent(event)) return false
  if (task?.execution?.id === event.data.executionId) return task.execution.kind === 'command'
  const message = await messageAsOf(documents, event, taskId, event.data.messageId)
  return message?.isCommand === true
}

function isExecutionEvent(event: AnyRecorded): event is ExecutionEvent {
  return (
    event.type === 'ExecutionStarted' ||
    event.type === 'ExecutionCompleted' ||
    event.type === 'ExecutionFailed' ||
    event.type === 'ExecutionCancelled'
  )
}
