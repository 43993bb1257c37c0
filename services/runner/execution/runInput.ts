/** The data of a run. Task and message are as they were in the log when the run was claimed. */
import { taskStream, userStream } from '#domain/kernel/streams.ts'
import type { AgentName } from '#domain/agents.ts'
import type { Fence } from '#domain/task/commands.ts'
import type { Execution } from '#domain/task/phase.ts'
import { countingAt } from '#domain/task/restorePoints.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task as decider } from '#domain/task/task.ts'
import { joinTranscripts, transcriptOf } from '#domain/task/transcript.ts'
import { chatView, messageDocumentId, type MessageDocument } from '#domain/views/chat.ts'
import type { OwnInstructions } from '#domain/user/instructions.ts'
import { instructionsView, noInstructions } from '#domain/views/instructions.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { usersView, type UserDocument } from '#domain/views/users.ts'
import type { Head } from '#platform/eventlog/eventLog.ts'
import type { AgentImage, ModelUse } from '../agents/port.ts'
import type { RecordingDeps } from '../deps.ts'
import { Evicted, failed, type Failed } from './failure.ts'
import { imagesForAgent } from './turn/agentMessage.ts'

/** An execution that this runner has claimed. */
export interface Claimed {
  readonly task: LiveTask
  readonly execution: Execution
  readonly fence: Fence
  readonly head: Head
}

export interface RunInput {
  readonly document: TaskDocument
  readonly message: MessageDocument & { readonly message: string }
  readonly user: UserDocument
  readonly images: readonly AgentImage[]
  /** The person's own instructions and commands. */
  readonly own: OwnInstructions
}

export async function runInputOf(
  deps: RecordingDeps,
  { task, execution, head }: Claimed,
): Promise<RunInput | Failed> {
  const stream = taskStream(task.taskId)
  const [document, message, user, own] = await Promise.all([
    deps.documents.asOf(tasksView, stream, task.taskId, head),
    deps.documents.asOf(chatView, stream, messageDocumentId(task.taskId, execution.messageId), head),
    userOf(deps, task.ownerId),
    ownInstructionsOf(deps, task.ownerId),
  ])
  if (!document || !user) throw new Evicted('The task is gone.')
  // Only an erased message has no text. The text of a message with images may be empty.
  if (typeof message?.message !== 'string')
    return failed('message_erased', 'The message of this turn was erased.')
  const images = await imagesForAgent(deps, task.taskId, message.images)
  if (!images) return failed('image_erased', 'An image of this message was erased or is damaged.')
  return { document, message: { ...message, message: message.message }, user, images, own }
}

/** How long to wait for the projection before text from the read models is used permanently. */
const projectionTimeoutMs = 10_000

/** Whether the read models include everything that has happened to the task. Waits for it for at most 10 seconds. */
export async function isProjected(
  { commands, projected }: Pick<RecordingDeps, 'commands' | 'projected'>,
  taskId: string,
): Promise<boolean> {
  const { position } = await commands.load(decider, taskStream(taskId))
  return position === null || projected.waitFor(position, projectionTimeoutMs)
}

/**
 * The conversation before this message as text: the transcript of the turn that the task was created from, then the last hundred messages before this
 * one, without those of undone turns.
 */
export async function conversationBefore(
  deps: Pick<RecordingDeps, 'commands' | 'documents' | 'projected'>,
  { delivered, origin, restorePoints: { points, at } }: LiveTask,
  { task, order }: MessageDocument,
): Promise<string> {
  // Before its first message, a task has no conversation to wait for. A conversation without its end is better than a turn that fails.
  if (delivered.size > 1) await isProjected(deps, task).catch(() => false)
  const found = await deps.documents.find(chatView, {
    where: { task },
    sort: { field: 'order', direction: 'descending' },
    limit: 100,
    after: { value: order, id: '' },
  })
  const counting = new Set(countingAt(points, at).map(({ executionId }) => executionId))
  const known = new Set(points.map(({ executionId }) => executionId))
  const isUndone = ({ executionId }: MessageDocument) =>
    executionId !== null && known.has(executionId) && !counting.has(executionId)
  const messages = found.filter((message) => !isUndone(message)).reverse()
  return joinTranscripts(origin?.transcript ?? '', transcriptOf(messages))
}

/** The current instructions and commands of a person. */
export async function ownInstructionsOf(
  { documents }: Pick<RecordingDeps, 'documents'>,
  userId: string,
): Promise<OwnInstructions> {
  const found = await documents.now(instructionsView, userStream(userId), userId)
  return found ? { instructions: found.instructions, commands: found.commands } : noInstructions
}

async function userOf({ documents, log }: RecordingDeps, userId: string) {
  const stream = userStream(userId)
  return documents.asOf(usersView, stream, userId, await log.headOf(stream))
}

/** The model and effort for the agent. A choice that was made for another agent is ignored. */
export function modelUseFor(document: TaskDocument, agent: AgentName): ModelUse {
  const { modelAgent, codexModel, effort = null } = document
  return modelAgent === agent ? { model: codexModel, effort } : { model: null, effort: null }
}

/** The session of the agent, if it was the last agent with a session in the task; otherwise `null`. */
export function sessionOf({ session }: LiveTask, agent: AgentName): string | null {
  return session?.agent === agent ? session.sessionId : null
}
