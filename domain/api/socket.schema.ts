/** The live connection: the messages that the server and a client send each other. A message about an event has the event's position and version. */
import { z } from 'zod'
import type { FaultCode } from '../kernel/errors.ts'
import { Position } from '../kernel/event.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import { TaskId } from '../kernel/ids.schema.ts'
import type { TaskEvent } from '../task/events.ts'
import {
  CommandStatus,
  type ChatMessage,
  type MessageDelta,
  type MessageFragment,
  type TerminalOutput,
} from './chat.schema.ts'
import { ShownQuestion } from './questions.schema.ts'
import type { ShellAnswer, ShellOpening } from './shell.schema.ts'
import { TaskStatus } from './tasks.schema.ts'

/** The place in the log of the event that caused a message, and the id of the command that caused the event. */
const placed = { position: Position, version: z.number(), commandId: z.string() }

export const TaskStatusChanged = z.object({
  taskId: z.string(),
  status: TaskStatus,
  progress: z.number(),
  ...placed,
})
export type TaskStatusChanged = z.infer<typeof TaskStatusChanged>

export const ChatMessageStatusChanged = z.object({
  taskId: z.string(),
  messageId: z.string(),
  commandStatus: CommandStatus,
  response: z.string().nullable(),
  ...placed,
})
export type ChatMessageStatusChanged = z.infer<typeof ChatMessageStatusChanged>

export const CommandOutput = z.object({
  taskId: z.string(),
  type: z.enum(['stdout', 'stderr']),
  output: z.string(),
  executionId: z.string(),
  ...placed,
})
export type CommandOutput = z.infer<typeof CommandOutput>

export const CommandEnded = z.object({
  taskId: z.string(),
  messageId: z.string(),
  executionId: z.string(),
  exitCode: z.number().nullable(),
  ...placed,
})
export type CommandEnded = z.infer<typeof CommandEnded>

export const QuestionChanged = z.object({ taskId: z.string(), question: ShownQuestion, ...placed })
export type QuestionChanged = z.infer<typeof QuestionChanged>

interface Caused {
  readonly commandId: string
}

/** A decrypted event of the task's stream. Our own client folds these events with `domain/views`. */
export type TaskEventMessage = RecordedOf<TaskEvent>

/**
 * How far a viewer has got in a task: the position of the last event that it received and, optionally, how many of this event's messages it received.
 * An event is sent as up to four messages. A viewer that gives the number of messages that it has gets only the messages that it missed.
 */
export const ResumeCursor = z.union([
  Position,
  z.strictObject({ position: Position, messages: z.int().min(1).max(100) }),
])
export type ResumeCursor = z.infer<typeof ResumeCursor>

/** The arguments of `join_task`: the task and, for a viewer that was connected before, how far it has got. */
export const JoinTask = z.tuple([TaskId, ResumeCursor.nullish()])

/**
 * The answer to `join_task`, for a client that gives a callback. All events up to `position` are in the history, and all later events arrive live, in
 * order. `resync` is true when the missed events cannot be sent, for example because there are too many: the client must then read the history.
 */
export type JoinAnswer =
  | { readonly joined: true; readonly resync: boolean; readonly position: Position | null }
  | { readonly joined: false; readonly error: string; readonly code: FaultCode }

export interface ServerEvents {
  terminal_output: (output: TerminalOutput & Caused) => void
  /**
   * A message is new, edited or withdrawn. The message has the position and revision of the event that changed it. A client that does not have
   * `knowsWords: true` in its handshake also gets the message that the agent is writing, again and again as it grows (`isPartial`).
   */
  chat_message: (message: ChatMessage & Caused) => void
  /** Pieces of a message while the agent writes it, sent before they are recorded. A piece may repeat earlier text; missed ones do not come again. */
  chat_message_words: (words: MessageFragment) => void
  /** Like `chat_message_words`, for the beginning of a thought. The command log's entry for the thought later has the id `executionId:messageId`. */
  thought_words: (words: MessageFragment) => void
  chat_message_delta: (delta: MessageDelta & Caused) => void
  chat_message_status_changed: (change: ChatMessageStatusChanged) => void
  task_status_changed: (change: TaskStatusChanged) => void
  global_task_status_changed: (change: TaskStatusChanged) => void
  command_output: (output: CommandOutput) => void
  command_completed: (ended: CommandEnded) => void
  command_failed: (ended: CommandEnded) => void
  command_cancelled: (ended: CommandEnded) => void
  /** In order: the agent asked; a person answered; the agent no longer waits. */
  question_asked: (change: QuestionChanged) => void
  question_answered: (change: QuestionChanged) => void
  question_withdrawn: (change: QuestionChanged) => void
  /**
   * An event of the task for which no `chat_message` is sent. Each revision of the task is sent as `task_event` or as `chat_message`, so that clients
   * can detect a gap.
   */
  task_event: (event: TaskEventMessage) => void
  /** The task's record was found damaged, or was repaired: the client must read the history again. */
  task_resync: (task: { readonly taskId: string }) => void
}

export interface ClientEvents {
  join_task: (taskId: string, last?: ResumeCursor | null, answer?: (joined: JoinAnswer) => void) => void
  leave_task: (taskId: string) => void
  shell_open: (
    taskId: string,
    size: { readonly rows: number; readonly columns: number },
    answer: (opening: ShellOpening) => void,
  ) => void
  shell_input: (taskId: string, shellId: string, text: string, answer: (taken: ShellAnswer) => void) => void
  shell_resize: (
    taskId: string,
    shellId: string,
    size: { readonly rows: number; readonly columns: number },
    answer: (taken: ShellAnswer) => void,
  ) => void
  shell_close: (taskId: string, shellId: string, answer: (taken: ShellAnswer) => void) => void
}
