/** A task's chat, its command log and its terminal. */
import { z } from 'zod'
import { Position } from '../kernel/event.schema.ts'
import { MessageId, TaskId } from '../kernel/ids.schema.ts'
import { AgentName, PassingFault, ToolKind } from '../task/events.ts'
import { ShownArtifact } from './artifacts.schema.ts'
import { shellEnds } from '../task/shells.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { attachedImages, ShownImage } from './images.schema.ts'
import { imageLimits } from './images.ts'
import { limits } from './limits.ts'
import { Moment, queryNumber, required, success, Text } from './fields.schema.ts'
import { chatRoutes, commandStatuses, messageTypes } from './chat.ts'

export const CommandStatus = z.enum(commandStatuses)

export const ChatMessage = z.object({
  id: z.string(),
  task: z.string(),
  project: z.string(),
  owner: z.string(),
  /** The text of the message; `null` when the text was erased. */
  message: z.string().nullable(),
  messageType: z.enum(messageTypes),
  isCommand: z.boolean(),
  commandText: z.string().nullable(),
  /** Whether the command gets the project's secrets. */
  withSecrets: z.literal(true).optional(),
  images: z.array(ShownImage),
  /** The message's images as files. Each can be fetched at its `path`. */
  attachments: z.array(z.object({ path: z.string(), name: z.string(), mimeType: z.string() })),
  /** False for a withdrawn message, and for a partial one that will never be complete. The socket announces it, and lists leave it out. */
  isVisible: z.boolean(),
  isEdited: z.boolean(),
  /** The status of a command; `pending` for other messages. */
  commandStatus: CommandStatus,
  /** For a finished command: its result on the first line, such as `exit 0`, then the end of its output, at most a few kB. */
  response: z.string().nullable(),
  agent: AgentName.nullable(),
  createdAt: Moment,
  updatedAt: Moment,
  /** The status of a person's message; `completed` for messages of agents and the system. */
  status: CommandStatus,
  /** The execution that the message started or was sent to, or that wrote the message. */
  executionId: z.string().nullable(),
  /** The message was sent to a turn that another message had started. */
  isSteering: z.literal(true).optional(),
  /** Set on a system message about a turn that will ask its model again at `retryAt`. `message` names that time in UTC. */
  modelRetry: z.object({ code: PassingFault, retryAt: Moment }).optional(),
  /** Set while the agent is still writing: the socket sends the message again and again as it grows. Histories contain only complete messages. */
  isPartial: z.literal(true).optional(),
  /** The message's place in the queue, once somebody reordered the queue. Messages without a place come after the others, oldest first. */
  queueIndex: z.number().nullable(),
  position: Position,
  version: z.number(),
})
export type ChatMessage = z.infer<typeof ChatMessage>

/**
 * The kind of a log entry. A tool call has the kind of its tool, and a person's command has `run`. `thinking`: a thought of the agent or a subagent;
 * `said`: another text of a subagent; both are in `output`. `artifact`: the files that the agent left for people in a turn, in `artifacts`.
 */
export const LogKind = z.enum([...ToolKind.options, 'thinking', 'said', 'artifact'])

/** An entry of the command log: something that the agent did, or a person's command. */
export const LogEntry = z.object({
  id: z.string(),
  task: z.string(),
  /** The id of the message with a person's command; `null` for other entries. */
  messageId: z.string().nullable(),
  /** The execution of the entry; `null` for a queued command. */
  executionId: z.string().nullable(),
  kind: LogKind,
  /** For an entry of a subagent: the id of the entry of the tool call that started the subagent. Absent for entries of the agent itself. */
  parentId: z.string().optional(),
  name: z.string().nullable(),
  /** The path, command, pattern or address that the tool call applies to, or the person's command; `null` for other entries, and when erased. */
  target: z.string().nullable(),
  input: z.string().nullable(),
  status: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled']),
  exitCode: z.number().nullable(),
  durationMs: z.number().nullable(),
  additions: z.number().nullable(),
  deletions: z.number().nullable(),
  summary: z.string().nullable(),
  output: z.string().nullable(),
  /** The images that the tool returned and that were kept; absent when none was kept. */
  images: z.array(ShownImage).optional(),
  /** How many of the tool's images were not kept. */
  imagesLeftOut: z.number().optional(),
  /** The files of an `artifact` entry; absent for other kinds. */
  artifacts: z.array(ShownArtifact).optional(),
  timestamp: Moment,
  position: Position,
  version: z.number(),
})
export type LogEntry = z.infer<typeof LogEntry>

export const TerminalOutput = z.object({
  taskId: z.string(),
  timestamp: Moment,
  /** A piece of the output; `''` when it was erased. */
  content: z.string(),
  type: z.enum(['stdout', 'stderr']),
  executionId: z.string(),
  /** Set for output of a person's shell: the size of its terminal, and in `ended` why the shell ended. */
  shell: z
    .object({ rows: z.number(), columns: z.number(), ended: z.enum(shellEnds).exactOptional() })
    .exactOptional(),
  position: Position,
  /** The revision in the terminal's stream. Each revision is sent either as output or as `chat_message_delta`, so that clients can detect a gap. */
  version: z.number(),
})
export type TerminalOutput = z.infer<typeof TerminalOutput>

export const MessageDelta = z.object({
  taskId: z.string(),
  messageId: z.string(),
  offset: z.number(),
  text: z.string(),
  executionId: z.string(),
  position: Position,
  version: z.number(),
})
export type MessageDelta = z.infer<typeof MessageDelta>

/** A piece of a message, sent before it is recorded. The recorded deltas and the whole message replace it later. */
export const MessageFragment = MessageDelta.omit({ position: true, version: true })
export type MessageFragment = z.infer<typeof MessageFragment>

const params = z.object({ taskId: TaskId })
/** A page of a history, oldest first. `before` requests the page that ends before a position; without it, the latest page is returned. */
const page = { limit: queryNumber(limits.pageSize).default(limits.pageSize), before: Position.optional() }

export const getChat = defineRead(chatRoutes.getChat, {
  summary: 'The latest page of messages, oldest first.',
  params,
  query: page,
  answer: { messages: z.array(ChatMessage), version: z.number() },
  faults: ['not_found'],
})

export const sendMessage = defineWrite(chatRoutes.sendMessage, {
  summary: 'Sends a message or command to the task. It is queued while something is running.',
  params,
  body: z
    .object({
      id: MessageId.optional(),
      message: Text.max(limits.messageLength).optional(),
      messageType: z.enum(['user', 'command', 'system']).optional(),
      isCommand: z.boolean().optional(),
      commandText: Text.max(limits.messageLength).nullable().optional(),
      images: attachedImages(imageLimits.aMessage).optional(),
      agent: AgentName.nullish(),
      /** Whether to send the message to the running turn at once, if that turn can take it; otherwise the message is queued. */
      steer: z.boolean().optional(),
      /** The command gets the project's secrets only if this is true. */
      withSecrets: z.boolean().optional(),
    })
    .refine(({ images = [], ...body }) => images.length === 0 || isForAgent(body), {
      path: ['images'],
      error: "Commands can't include images.",
    })
    .refine(hasText, { path: ['message'], error: 'Enter a message.' }),
  status: 201,
  answer: { success: z.literal(true), chatMessage: ChatMessage },
  faults: ['not_found', 'already_exists', 'agent_unavailable'],
})

/** Whether the body has a text, or needs none because it is a message to the agent with images. */
function hasText({
  images = [],
  ...body
}: MessageBody & { images?: readonly string[] | undefined }): boolean {
  if (isForAgent(body) && images.length > 0) return true
  return (isCommand(body) ? textOfCommand(body) : (body.message ?? '').trim()) !== ''
}

/** Whether a chat body is a message to the agent rather than a command or a note. */
function isForAgent(body: MessageBody): boolean {
  return !isCommand(body) && body.messageType !== 'system'
}

interface MessageBody {
  readonly message?: string | undefined
  readonly messageType?: string | undefined
  readonly isCommand?: boolean | undefined
  readonly commandText?: string | null | undefined
}

export function isCommand(body: MessageBody): boolean {
  return body.isCommand === true || body.messageType === 'command'
}

/** The command in a chat body: `commandText`, or else `message`. */
export function textOfCommand(body: MessageBody): string {
  return (body.commandText || body.message || '').trim()
}

/** Withdraws a queued message or command. 409 `message_delivered` once it was delivered or is on its way to a runner. */
export const withdrawMessage = defineWrite(chatRoutes.withdrawMessage, {
  summary: 'Withdraws a queued message.',
  params: z.object({ taskId: TaskId, messageId: MessageId }),
  answer: success,
  faults: ['not_found', 'message_delivered'],
})

/** Edits a queued message or command. 409 `message_delivered` once it was delivered or is on its way to a runner. */
export const editMessage = defineWrite(chatRoutes.editMessage, {
  summary: 'Edits a queued message or command.',
  params: z.object({ taskId: TaskId, messageId: MessageId }),
  body: z.object({ message: required('Enter a message.', limits.messageLength) }),
  answer: { ...success, chatMessage: ChatMessage },
  faults: ['not_found', 'message_delivered'],
})

export const steerMessage = defineWrite(chatRoutes.steerMessage, {
  summary: 'Sends a queued message to the running turn immediately.',
  params: z.object({ taskId: TaskId, messageId: MessageId }),
  answer: { ...success, chatMessage: ChatMessage },
  faults: ['not_found', 'message_delivered', 'no_turn_to_steer'],
})

/** Reorders the queue. 409 `queue_changed`, with the current queue, unless `messageIds` names exactly the messages that can still be withdrawn. */
export const reorderQueue = defineWrite(chatRoutes.reorderQueue, {
  summary: 'Reorders the queued messages.',
  params,
  body: z.object({ messageIds: z.array(MessageId).max(limits.queueLength) }),
  answer: { ...success, messages: z.array(ChatMessage) },
  faults: ['not_found', 'queue_changed'],
})

export const getCommands = defineRead(chatRoutes.getCommands, {
  summary: 'The latest page of commands and tool calls, oldest first.',
  params,
  query: page,
  answer: {
    logs: z.array(LogEntry),
    /** The latest 100 queued and running entries from before this page; empty with `before`. A command moves to the end of the log when it starts. */
    open: z.array(LogEntry),
    version: z.number(),
  },
  faults: ['not_found'],
})

export const getTaskImages = defineRead(chatRoutes.getTaskImages, {
  summary:
    'The images of the latest messages and tool calls, with addresses that are valid for some minutes.',
  params,
  answer: { images: z.array(ShownImage) },
  faults: ['not_found'],
})

export const getTerminal = defineRead(chatRoutes.getTerminal, {
  summary:
    'The latest page of terminal output, oldest first. A page of 16,000,000 characters ends before its limit.',
  params,
  query: page,
  answer: {
    output: z.array(TerminalOutput),
    /** The revision of the terminal's last event, up to which the answer is current; `-1` when the terminal has no events. */
    version: z.number(),
    deltas: z.array(MessageDelta),
  },
  faults: ['not_found'],
})
