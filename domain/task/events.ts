/**
 * The events of a task. Facts are in `data`, with short names from programs, such as a model's. All texts and output by people and agents are in
 * `content`. The names of git objects and the numbers of pull requests are there too, because they can lead to a person at the code host.
 */
import { z } from 'zod'
import { agentNames } from '../agents.ts'
import { payers } from '../agentKeys.ts'
import { imageFacts } from '../image.ts'
import {
  BlobRef,
  ExecutionId,
  MessageId,
  ObjectName,
  ProjectId,
  Sha256,
  TaskId,
  UserId,
} from '../kernel/ids.schema.ts'
import { event, fact, upcast, type EventOf } from '../kernel/event.schema.ts'
import { ArtifactKept } from './artifactEvents.ts'
import { cleanUpEvents } from './codeHost/cleanUpEvents.ts'
import { ContextMeasured } from './contextEvents.ts'
import { feedbackEvents } from './codeHost/feedbackEvents.ts'
import { issueEvents } from './codeHost/issueState.ts'
import { McpServersReported } from '../mcp/mcpReport.ts'
import { passingFaults } from './modelRetry.ts'
import {
  AgentModeChosen,
  AnswerDelivered,
  QuestionAnswered,
  QuestionAsked,
  QuestionWithdrawn,
} from './questionEvents.ts'
import {
  TaskCreatedFromTurn,
  TaskForked,
  TurnsUndone,
  WorkspaceRestored,
  WorkspaceSnapshotTaken,
} from './snapshotEvents.ts'
import { ShellOpened } from './shellEvents.ts'
import { SubagentSaid } from './subagentEvents.ts'
import { ThinkingRecorded } from './thinkingEvents.ts'
import { ToolImagesKept } from './toolImageEvents.ts'

export const AgentName = z.enum(agentNames)

/** What an execution runs: `turn`, a turn of the agent; or `command`, a shell command in the task's sandbox. */
export const ExecutionKind = z.enum(['turn', 'command'])
export type ExecutionKind = z.infer<typeof ExecutionKind>

export const ToolKind = z.enum(['read', 'edit', 'run', 'search', 'fetch', 'todo', 'other'])
export type ToolKind = z.infer<typeof ToolKind>

/** Why a model is unavailable for a short time. */
export const PassingFault = z.enum(passingFaults)

const Commit = ObjectName
/** The git tree of the files; `null` when no tree was written. */
const Tree = ObjectName.nullable()
/** A name chosen by a program in the sandbox. Names are not encrypted, and the limit keeps longer texts out of them. */
const Named = z.string().max(200)

/** The last event of the terminal when an execution ended. It links the hash chain of the terminal's stream to the chain of the task's. */
export const TerminalHead = z.object({ revision: z.int().nonnegative(), hash: Sha256 })
export type TerminalHead = z.infer<typeof TerminalHead>

const execution = { executionId: ExecutionId }
const work = { ...execution, messageId: MessageId }

export const TaskCreated = event('TaskCreated', 1, {
  data: z.object({
    taskId: TaskId,
    ownerId: UserId,
    projectId: ProjectId,
    agent: AgentName,
  }),
  content: z.object({
    title: z.string(),
    description: z.string(),
    branch: z.string(),
    /** The model that the client requested, for any agent. `UsageRecorded` has the model that was really used. */
    codexModel: z.string().nullable(),
  }),
})
export const TaskUpdated = event('TaskUpdated', 1, {
  data: z.object({}),
  content: z.object({ title: z.string(), description: z.string() }),
})
/** Somebody chose the model and effort for the next turns of the agent. A `null` model or absent effort leaves the choice to the agent. */
export const ModelChosen = event('ModelChosen', 1, {
  data: z.object({ agent: AgentName, effort: Named.optional() }),
  content: z.object({ model: z.string().nullable() }),
})
export const TaskDeleted = fact('TaskDeleted', {})

/** An image of a message. It is a copy of an uploaded image, encrypted with the task's key. */
export const MessageImage = z.object({ ...imageFacts, uploadedAt: z.iso.datetime() })
export type MessageImage = z.infer<typeof MessageImage>

/** A message to the agent, or a command, was queued: by a person, or by a rule of the project. */
export const MessageQueued = event('MessageQueued', 1, {
  data: z.object({
    messageId: MessageId,
    kind: ExecutionKind,
    agent: AgentName,
    images: z.array(MessageImage),
  }),
  /** `imageNames` has the file names of the images, in the same order. */
  content: z.object({ message: z.string(), imageNames: z.array(z.string()) }),
})
/** A person allowed the command that was just queued to have the project's secrets. */
export const SecretsGranted = fact('SecretsGranted', { messageId: MessageId })
export const MessageWithdrawn = fact('MessageWithdrawn', { messageId: MessageId })
/** A queued message was edited. */
export const MessageEdited = event('MessageEdited', 1, {
  data: z.object({ messageId: MessageId }),
  content: z.object({ message: z.string() }),
})
/** A person put the queued messages in this order. Messages that are queued later come last. */
export const QueueReordered = fact('QueueReordered', { messageIds: z.array(MessageId) })
/** Somebody asked to send a queued message to the running turn. `MessageDelivered` follows when the agent has received it. */
export const SteeringRequested = fact('SteeringRequested', { messageId: MessageId, ...execution })
export const MessageDelivered = fact('MessageDelivered', { messageId: MessageId, ...execution })
/** A message from an agent or from the system, or a person's note. */
export const MessagePosted = event('MessagePosted', 1, {
  data: z.object({
    messageId: MessageId,
    messageType: z.enum(['response', 'system', 'error']),
    agent: AgentName.nullable(),
    executionId: ExecutionId.nullable(),
  }),
  content: z.object({ message: z.string() }),
})

/** The agent did something that nobody had requested, before it began with the turn's message. `said` is its text, and may be empty. */
export const AgentActedUnasked = event('AgentActedUnasked', 1, {
  data: z.object({ ...execution, messageId: MessageId, agent: AgentName }),
  content: z.object({ said: z.string() }),
})
/** The model was unavailable for a short time. The turn continues, and asks the model again at `retryAt`. */
export const ModelRetryScheduled = fact('ModelRetryScheduled', {
  ...execution,
  messageId: MessageId,
  agent: AgentName,
  code: PassingFault,
  retryAt: z.iso.datetime(),
})

export const ExecutionRequested = fact('ExecutionRequested', {
  ...execution,
  kind: ExecutionKind,
  reason: z.enum(['start', 'follow_up', 'retry']),
  messageId: MessageId,
  agent: AgentName,
})
/** A runner claimed the execution. From now on, reports about earlier attempts are refused. */
export const ExecutionStarted = fact('ExecutionStarted', {
  ...work,
  attempt: z.number().int(),
  runnerId: z.string(),
})
export const CancellationRequested = fact('CancellationRequested', execution)
export const ExecutionCompleted = fact('ExecutionCompleted', {
  ...work,
  exitCode: z.number().int().nullable(),
  terminal: TerminalHead.nullable(),
})
const Failure = z.object({
  ...work,
  code: z.string(),
  exitCode: z.number().int().nullable(),
  terminal: TerminalHead.nullable(),
})
const FailureReason = z.object({ reason: z.string() })
export const ExecutionFailed = event('ExecutionFailed', 2, {
  data: Failure.extend({
    /** The time until which the code host asked to wait; `null` when it did not ask, and in events of version 1. */
    retryAt: z.iso.datetime().nullable(),
  }),
  content: FailureReason,
  upcasts: [
    upcast({ data: Failure, content: FailureReason }, ({ data, content }) => ({
      data: { ...data, retryAt: null },
      content,
    })),
  ],
})
export const ExecutionCancelled = fact('ExecutionCancelled', { ...work, terminal: TerminalHead.nullable() })

export const WorkspacePreparing = fact('WorkspacePreparing', execution)
export const WorkspacePrepared = event('WorkspacePrepared', 1, {
  data: z.object(execution),
  content: z.object({ workingBranch: z.string(), baseBranch: z.string(), baseCommit: Commit.nullable() }),
})
export const AgentStarted = fact('AgentStarted', {
  ...execution,
  agent: AgentName,
  version: Named,
  sessionId: Named,
  resumed: z.boolean(),
  /** Who pays for the model; absent for the scripted model, and in events from before people had keys. */
  payer: z.enum(payers).optional(),
  /** The model that the agent reported; absent if it reported none, and in events from before this field existed. */
  model: Named.optional(),
  /** The requested effort; absent if none was requested, and for agents that take a model only at their start. */
  effort: Named.optional(),
})
const ToolCall = z.object({ ...execution, toolId: Named, kind: ToolKind })
const ToolInput = z.object({ name: z.string(), target: z.string(), input: z.string() })
export const ToolStarted = event('ToolStarted', 2, {
  data: ToolCall.extend({
    /** The tool call that started the subagent that makes this call; `null` for calls of the agent itself, and in events of version 1. */
    parentToolId: Named.nullable(),
  }),
  content: ToolInput,
  upcasts: [
    upcast({ data: ToolCall, content: ToolInput }, ({ data, content }) => ({
      data: { ...data, parentToolId: null },
      content,
    })),
  ],
})
export const ToolFinished = event('ToolFinished', 1, {
  data: z.object({
    ...execution,
    toolId: Named,
    ok: z.boolean(),
    /** The duration; `null` when the tool did not finish before the execution ended. */
    durationMs: z.number().int().nullable(),
    exitCode: z.number().int().nullable(),
    additions: z.number().int().nullable(),
    deletions: z.number().int().nullable(),
  }),
  content: z.object({ summary: z.string(), output: z.string() }),
})
/** The end of a command's output, up to a limit. The terminal's stream has more of the output. This event comes before the command's end. */
export const CommandOutputRecorded = event('CommandOutputRecorded', 1, {
  data: z.object(work),
  content: z.object({ output: z.string() }),
})
export const UsageRecorded = fact('UsageRecorded', {
  ...execution,
  model: Named.nullable(),
  inputTokens: z.number().int(),
  outputTokens: z.number().int(),
  cacheReadTokens: z.number().int(),
  cacheWriteTokens: z.number().int(),
  costUsd: z.number(),
})
/** The changes of the task's files compared with the merge base. The diff itself is in `blob`. */
export const WorkspaceChanged = event('WorkspaceChanged', 1, {
  data: z.object({
    ...execution,
    files: z.number().int(),
    additions: z.number().int(),
    deletions: z.number().int(),
    ahead: z.number().int(),
    behind: z.number().int(),
    truncated: z.boolean(),
    blob: BlobRef.nullable(),
  }),
  /** `tree` is the git tree with the changes, from which a pull request is made; `null` while the agent is writing. */
  content: z.object({ currentBranch: z.string(), baseBranch: z.string(), tree: Tree }),
})

/** The predecessor of `WorkspaceSnapshotTaken`. Only older logs contain it. */
export const WorkSaved = event('WorkSaved', 1, {
  data: z.object({
    ...execution,
    bundle: BlobRef,
    session: z.object({ agent: AgentName, blob: BlobRef }).nullable(),
  }),
  /** The commit that contains all of the work. */
  content: z.object({ work: Commit }),
})

/** A person or the server requested the publication. After a crash, the runner first looks for a pull request that it had already opened. */
export const PullRequestRequested = event('PullRequestRequested', 1, {
  data: z.object({
    requestId: z.string(),
    draft: z.boolean(),
    /** Whether the server requested the publication, as after a turn, rather than a person. */
    automatic: z.boolean(),
    /** Whether title and body replace the title and body of an open pull request. */
    rewrites: z.boolean(),
  }),
  /**
   * `tree` is the tree of the recorded changes. A person's request publishes only this tree. An automatic update first records the current changes,
   * and publishes these changes.
   */
  content: z.object({ title: z.string(), body: z.string(), tree: Tree }),
})
/** Whether each successful turn updates the pull request. */
export const PullRequestAutoUpdateChanged = fact('PullRequestAutoUpdateChanged', { on: z.boolean() })
const settled = {
  data: z.object({ requestId: z.string() }),
  content: z.object({ number: z.number().int(), url: z.string(), headCommit: Commit }),
}
export const PullRequestOpened = event('PullRequestOpened', 1, settled)
export const PullRequestUpdated = event('PullRequestUpdated', 1, settled)
export const PullRequestFailed = event('PullRequestFailed', 1, {
  data: z.object({ requestId: z.string(), code: z.string() }),
  content: z.object({ reason: z.string() }),
})

/** The state of a pull request at the code host. */
export const PullRequestState = z.enum(['open', 'closed', 'merged'])
export type PullRequestState = z.infer<typeof PullRequestState>

/** The code host reported something new about the pull request. Times are from the code host's clock. */
export const PullRequestObserved = event('PullRequestObserved', 1, {
  data: z.object({
    state: PullRequestState,
    draft: z.boolean(),
    updatedAt: z.iso.datetime(),
    mergedAt: z.iso.datetime().nullable(),
  }),
  content: z.object({
    number: z.number().int(),
    /** The code host's ids, which do not change when the repository is renamed or transferred. */
    nodeId: z.string(),
    repositoryId: z.string(),
    headCommit: Commit,
    /** The login of the person who merged the pull request; `null` when nobody merged it explicitly, for example after a push. */
    mergedBy: z.string().nullable(),
  }),
})

/** Why the code host does not show us a pull request. */
export const UnreadableCode = z.enum(['github_not_connected', 'forbidden', 'not_found'])
export type UnreadableCode = z.infer<typeof UnreadableCode>

/** The pull request could not be read. While the reason stays the same, further failures are not recorded. */
export const PullRequestUnreadable = fact('PullRequestUnreadable', { code: UnreadableCode })

/** The task was created as an alternative to another task. */
export const TaskCreatedToCompare = event('TaskCreatedToCompare', 1, {
  /** The id of the original task. */
  data: z.object({ taskId: TaskId }),
  /** `title` is the original's title. `baseCommit` is the commit from which both tasks start; `null` if the original has none, or none yet. */
  content: z.object({ title: z.string(), baseCommit: Commit.nullable() }),
})

/** An alternative got a place in the task's comparison. The alternative is created right after this event, unless it existed before. */
export const AlternativeAdded = event('AlternativeAdded', 1, {
  data: z.object({ taskId: TaskId }),
  content: z.object({ title: z.string() }),
})

/** The creation of the alternative failed, so its place is free again. */
export const AlternativeRemoved = fact('AlternativeRemoved', { taskId: TaskId })

/** The events that a runner reports while an execution runs; each report names its execution and attempt. */
export const progressEvents = [
  WorkspacePreparing,
  WorkspacePrepared,
  AgentStarted,
  AgentActedUnasked,
  McpServersReported,
  ModelRetryScheduled,
  MessagePosted,
  ThinkingRecorded,
  SubagentSaid,
  ToolStarted,
  ToolImagesKept,
  ToolFinished,
  ArtifactKept,
  CommandOutputRecorded,
  UsageRecorded,
  ContextMeasured,
  WorkspaceChanged,
  WorkSaved,
  WorkspaceSnapshotTaken,
  QuestionAsked,
  AnswerDelivered,
  QuestionWithdrawn,
] as const
export type ProgressEvent = EventOf<(typeof progressEvents)[number]>

export const taskEvents = [
  TaskCreated,
  TaskUpdated,
  ModelChosen,
  TaskDeleted,
  MessageQueued,
  SecretsGranted,
  MessageWithdrawn,
  MessageEdited,
  QueueReordered,
  SteeringRequested,
  MessageDelivered,
  ExecutionRequested,
  ExecutionStarted,
  CancellationRequested,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionCancelled,
  PullRequestRequested,
  PullRequestAutoUpdateChanged,
  PullRequestOpened,
  PullRequestUpdated,
  PullRequestFailed,
  PullRequestObserved,
  PullRequestUnreadable,
  TaskCreatedFromTurn,
  TaskForked,
  TaskCreatedToCompare,
  AlternativeAdded,
  AlternativeRemoved,
  TurnsUndone,
  WorkspaceRestored,
  ...progressEvents,
  QuestionAnswered,
  AgentModeChosen,
  ShellOpened,
  ...feedbackEvents,
  ...issueEvents,
  ...cleanUpEvents,
] as const
export type TaskEvent = EventOf<(typeof taskEvents)[number]>
