/**
 * Decides about each command on a task. The task's status goes `pending -> queued -> running -> completed | failed | cancelled`, and then to `queued`
 * again. A queued execution can be cancelled too. After a command, the status is the one from before.
 */
import type { Decider, Decision } from '../kernel/decider.ts'
import { limits } from '../api/limits.ts'
import { refuse, type Refusal } from '../kernel/errors.ts'
import type { CommandOf, ExecutionOutcome, Fence, NamedImage, TaskCommand } from './commands.ts'
import {
  CancellationRequested,
  ExecutionCancelled,
  ExecutionCompleted,
  ExecutionFailed,
  ExecutionRequested,
  ExecutionStarted,
  MessageDelivered,
  MessageEdited,
  MessagePosted,
  MessageQueued,
  SecretsGranted,
  MessageWithdrawn,
  QueueReordered,
  SteeringRequested,
  TaskCreated,
  TaskDeleted,
  TaskUpdated,
  ToolFinished,
  type ProgressEvent,
  type TaskEvent,
  type TerminalHead,
} from './events.ts'
import { beginCleanUp, requestCleanUp, settleCleanUp } from './codeHost/cleanUp.ts'
import { isOnFeedback, onFeedback } from './codeHost/feedback.ts'
import { addAlternative, comparedWith, recordAlternative, removeAlternative } from './comparison.ts'
import { origin, recordFork } from './fork.ts'
import { issueOrigin, settleIssueComment } from './codeHost/issue.ts'
import { recordRestore, recordSnapshot, undoTurn } from './undo.ts'
import {
  automaticUpdate,
  firstDraft,
  missPullRequest,
  observePullRequest,
  recordChanges,
  requestDraft,
  requestPullRequest,
  retryUpdate,
  settlePullRequest,
} from './codeHost/pullRequest.ts'
import { chooseModel, effortOfNew } from './modelChoice.ts'
import type { Execution, QueuedMessage } from './phase.ts'
import { AgentModeChosen } from './questionEvents.ts'
import { ShellOpened } from './shellEvents.ts'
import { answerQuestion, chooseMode, isLateWithdrawal, withdrawQuestions } from './questions.ts'
import { refusalOfWords } from './slashCommands.ts'
import { evolve } from './evolve.ts'
import type { LiveTask, TaskState } from './state.ts'

function decide(command: TaskCommand, state: TaskState): Decision<TaskEvent> {
  if (command.type === 'CreateTask')
    return state.kind === 'none' ? createTask(command) : refuse('already_exists')
  if (state.kind !== 'task') return refuse('not_found', 'There is no such task.')
  if (isOnFeedback(command)) return onFeedback(state, command, (message) => sendMessage(state, message))
  switch (command.type) {
    case 'UpdateTask':
      return updateTask(state, command)
    case 'DeleteTask':
      return [TaskDeleted.of({})]
    case 'SendMessage':
      return sendMessage(state, command)
    case 'PostNote':
      return postNote(command)
    case 'WithdrawMessage':
      return withdrawMessage(state, command)
    case 'SteerMessage':
      return steerMessage(state, command)
    case 'DeliverSteering':
      return deliverSteering(state, command)
    case 'EditMessage':
      return editMessage(state, command)
    case 'ReorderQueue':
      return reorderQueue(state, command)
    case 'AnswerQuestion':
      return answerInTask(state, command)
    case 'RequestExecution':
      return requestExecution(state, command)
    case 'RetryTask':
      return retryTask(state, command)
    case 'CancelExecution':
      return cancelExecution(state)
    case 'StartExecution':
      return startExecution(state, command)
    case 'RecordProgress':
      return recordProgress(state, command)
    case 'EndExecution':
      return endExecution(state, command)
    case 'RequestPullRequest':
      return requestPullRequest(state, command)
    case 'RecordChanges':
      return recordChanges(state, command)
    case 'SettlePullRequest':
      return settlePullRequest(state, command)
    case 'ObservePullRequest':
      return observePullRequest(state, command)
    case 'MissPullRequest':
      return missPullRequest(state, command)
    case 'RetryUpdate':
      return retryUpdate(state, command)
    case 'RequestDraft':
      return requestDraft(state, command)
    case 'RequestCleanUp':
      return requestCleanUp(state, command)
    case 'BeginCleanUp':
      return beginCleanUp(state, command)
    case 'SettleCleanUp':
      return settleCleanUp(state, command)
    case 'RecordFork':
      return recordFork(state, command)
    case 'AddAlternative':
      return addAlternative(state, command)
    case 'RecordAlternative':
      return recordAlternative(state, command)
    case 'RemoveAlternative':
      return removeAlternative(state, command)
    case 'SettleIssueComment':
      return settleIssueComment(state, command)
    case 'OpenShell':
      return [ShellOpened.of({ shellId: command.shellId })]
    case 'UndoTurn':
      return undoTurn(state, command)
    case 'RecordSnapshot':
      return recordSnapshot(state, command)
    case 'RecordRestore':
      return recordRestore(state, command)
  }
}

function createTask(command: CommandOf<'CreateTask'>): Decision<TaskEvent> {
  const {
    taskId,
    ownerId,
    projectId,
    agent,
    codexModel,
    title,
    description,
    branch,
    messageId,
    executionId,
    images,
  } = command
  const first: QueuedMessage = { messageId, kind: 'turn', agent }
  const begins = command.from === undefined
  const refusal = command.isOwnCommand ? undefined : refusalOfWords(first, description, 'description', begins)
  if (refusal) return refusal
  const created = TaskCreated.of(
    { taskId, ownerId, projectId, agent },
    { title, description, branch, codexModel },
  )
  const mode =
    command.mode === undefined || command.mode === 'free' ? [] : [AgentModeChosen.of({ mode: command.mode })]
  const effort = effortOfNew(command)
  if (command.from && description.trim() === '' && images.length === 0)
    return [created, ...origin(command), ...mode, ...effort]
  return [
    created,
    messageQueued(first, description, images),
    ...origin(command),
    ...comparedWith(command),
    ...issueOrigin(command),
    ...mode,
    ...effort,
    requested(executionId, 'start', first),
  ]
}

function updateTask(state: LiveTask, command: CommandOf<'UpdateTask'>): Decision<TaskEvent> {
  const title = command.title ?? state.title
  const description = command.description ?? state.description
  const isChanged = title !== state.title || description !== state.description
  return [
    ...(isChanged ? [TaskUpdated.of({}, { title, description })] : []),
    ...chooseModel(state, command.model),
    ...chooseMode(state, command.mode),
  ]
}

function sendMessage(state: LiveTask, command: CommandOf<'SendMessage'>): Decision<TaskEvent> {
  const { messageId, kind, message, images, executionId } = command
  if (hasMessage(state, messageId)) return refuse('already_exists')
  if (command.runsNow && state.phase.status === 'running') return refuse('task_running')
  if (state.queue.length >= limits.queueLength) return refuse('queue_full')
  const queued = { messageId, kind, agent: command.agent ?? state.agent }
  const refusal = command.isOwnCommand ? undefined : refusalOfWords(queued, message, 'message')
  if (refusal) return refusal
  const isGranted = kind === 'command' && command.withSecrets === true
  const events: readonly TaskEvent[] = [
    messageQueued(queued, message, images),
    ...(isGranted ? [SecretsGranted.of({ messageId })] : []),
  ]
  if ('execution' in state.phase)
    return command.steers && canSteer(state, queued)
      ? [...events, SteeringRequested.of({ messageId, executionId: state.phase.execution.executionId })]
      : events
  return [...events, requested(executionId, 'follow_up', state.queue[0] ?? queued)]
}

function postNote(command: CommandOf<'PostNote'>): Decision<TaskEvent> {
  const data = {
    messageId: command.messageId,
    messageType: 'system',
    agent: null,
    executionId: null,
  } as const
  return [MessagePosted.of(data, { message: command.message })]
}

function withdrawMessage(state: LiveTask, command: CommandOf<'WithdrawMessage'>): Decision<TaskEvent> {
  const { messageId } = command
  return refusalOfWaiting(state, messageId) ?? [MessageWithdrawn.of({ messageId })]
}

function steerMessage(state: LiveTask, command: CommandOf<'SteerMessage'>): Decision<TaskEvent> {
  const { messageId } = command
  if (state.steering.includes(messageId)) return []
  const refusal = refusalOfWaiting(state, messageId)
  if (refusal) return refusal
  const message = state.queue.find((one) => one.messageId === messageId)
  if (!message || !('execution' in state.phase) || !canSteer(state, message))
    return refuse('no_turn_to_steer')
  return [SteeringRequested.of({ messageId, executionId: state.phase.execution.executionId })]
}

function deliverSteering(state: LiveTask, command: CommandOf<'DeliverSteering'>): Decision<TaskEvent> {
  const { fence, messageId } = command
  if (!fenced(state, fence)) return refuse('evicted')
  // A message that is being sent to the running turn can no longer be withdrawn. If it is not queued, it was already delivered.
  return isQueued(state, messageId)
    ? [MessageDelivered.of({ messageId, executionId: fence.executionId })]
    : []
}

function editMessage(state: LiveTask, command: CommandOf<'EditMessage'>): Decision<TaskEvent> {
  const { messageId, message, isOwnCommand = false } = command
  const waiting = state.queue.find((one) => one.messageId === messageId)
  return (
    refusalOfWaiting(state, messageId) ??
    (waiting && !isOwnCommand ? refusalOfWords(waiting, message, 'message') : undefined) ?? [
      MessageEdited.of({ messageId }, { message }),
    ]
  )
}

function reorderQueue(state: LiveTask, command: CommandOf<'ReorderQueue'>): Decision<TaskEvent> {
  const waiting = waitingOf(state)
  const named = new Set(command.messageIds)
  const isWhole =
    named.size === command.messageIds.length &&
    named.size === waiting.length &&
    waiting.every(({ messageId }) => named.has(messageId))
  if (!isWhole) return refuse('queue_changed', undefined, 'messageIds')
  const isAsItWas = waiting.every(({ messageId }, index) => command.messageIds[index] === messageId)
  return isAsItWas ? [] : [QueueReordered.of({ messageIds: [...command.messageIds] })]
}

function requestExecution(state: LiveTask, command: CommandOf<'RequestExecution'>): Decision<TaskEvent> {
  if (state.phase.status === 'queued') return []
  if (state.phase.status === 'running') return refuse('task_running')
  if (state.queue[0]) return [requested(command.executionId, 'follow_up', state.queue[0])]
  return state.lastTurn ? [requested(command.executionId, 'retry', state.lastTurn)] : refuse('nothing_to_run')
}

function retryTask(state: LiveTask, command: CommandOf<'RetryTask'>): Decision<TaskEvent> {
  if ('execution' in state.phase) return refuse('task_running')
  const again = retriedOf(state)
  return again ? [requested(command.executionId, 'retry', again)] : refuse('nothing_to_run')
}

function cancelExecution(state: LiveTask): Decision<TaskEvent> {
  if (!('execution' in state.phase)) return refuse('not_running')
  const { executionId, messageId, cancelRequested } = state.phase.execution
  if (state.phase.status === 'queued')
    return [ExecutionCancelled.of({ executionId, messageId, terminal: null })]
  return cancelRequested ? [] : [CancellationRequested.of({ executionId })]
}

function startExecution(state: LiveTask, command: CommandOf<'StartExecution'>): Decision<TaskEvent> {
  const execution = current(state, command.executionId)
  // If two runners saw the same attempt, only one of them can claim the next attempt.
  if (execution?.attempt !== command.afterAttempt) return refuse('evicted')
  const { executionId, messageId } = execution
  const attempt = execution.attempt + 1
  const withdrawn = execution.kind === 'turn' ? withdrawQuestions(state) : []
  const started = ExecutionStarted.of({ executionId, messageId, attempt, runnerId: command.runnerId })
  return isQueued(state, messageId)
    ? [...withdrawn, started, MessageDelivered.of({ messageId, executionId })]
    : [...interrupted(state, executionId), ...withdrawn, started]
}

function answerInTask(state: LiveTask, command: CommandOf<'AnswerQuestion'>): Decision<TaskEvent> {
  const { messageId, executionId, message } = command
  const answers = {
    type: 'SendMessage',
    kind: 'turn',
    agent: null,
    images: [],
    messageId,
    executionId,
    message,
  } as const
  return answerQuestion(state, command, () => sendMessage(state, answers))
}

function recordProgress(state: LiveTask, command: CommandOf<'RecordProgress'>): Decision<TaskEvent> {
  return fenced(state, command.fence) && command.progress.every((event) => isOf(command.fence, event))
    ? command.progress.filter((event) => !isLateWithdrawal(state, event))
    : refuse('evicted')
}

function endExecution(state: LiveTask, command: CommandOf<'EndExecution'>): Decision<TaskEvent> {
  const execution = fenced(state, command.fence)
  if (!execution) return refuse('evicted')
  const ending = [
    ...(command.message ? [command.message] : []),
    ...interrupted(state, execution.executionId),
    // After a failed turn, the questions stay open, because an answer can start the next turn.
    ...(execution.kind === 'turn' && command.outcome.kind !== 'failed' ? withdrawQuestions(state) : []),
    endOf(execution, command.outcome, command.terminal),
  ]
  const next = state.queue[0]
  // A failed turn stops the queue, because the queued messages rely on the turn's success. A failed command does not. If a person asked to cancel,
  // the queue stops however the execution ended, unless a message that was sent since then is still queued.
  const goesOn = execution.cancelRequested
    ? execution.sentSinceCancel.some((messageId) => isQueued(state, messageId))
    : command.outcome.kind === 'completed' ||
      (execution.kind === 'command' && command.outcome.kind === 'failed')
  if (next && goesOn) return [...ending, requested(command.nextExecutionId, 'follow_up', next)]
  const isTurnDone = execution.kind === 'turn' && command.outcome.kind === 'completed'
  const isUpdated = state.pullRequestRequest === null && (state.updateOwed || isTurnDone)
  return [
    ...ending,
    ...(isUpdated ? automaticUpdate(state, command.nextExecutionId, execution.executionId) : []),
    ...(isTurnDone && command.opensDraft ? firstDraft(state, command.nextExecutionId) : []),
  ]
}

function messageQueued(message: QueuedMessage, text: string, images: readonly NamedImage[]) {
  const facts = images.map(({ name: _name, ...image }) => image)
  const imageNames = images.map(({ name }) => name)
  return MessageQueued.of({ ...message, images: facts }, { message: text, imageNames })
}

function requested(executionId: string, reason: 'start' | 'follow_up' | 'retry', message: QueuedMessage) {
  return ExecutionRequested.of({ executionId, reason, ...message })
}

function endOf(execution: Execution, outcome: ExecutionOutcome, terminal: TerminalHead | null): TaskEvent {
  const { executionId, messageId } = execution
  switch (outcome.kind) {
    case 'completed':
      return ExecutionCompleted.of({ executionId, messageId, exitCode: outcome.exitCode, terminal })
    case 'failed':
      return ExecutionFailed.of(
        {
          executionId,
          messageId,
          code: outcome.code,
          exitCode: outcome.exitCode,
          terminal,
          retryAt: outcome.retryAt ?? null,
        },
        { reason: outcome.reason },
      )
    case 'cancelled':
      return ExecutionCancelled.of({ executionId, messageId, terminal })
  }
}

/** Events that end all open tool calls when an attempt ends, so that no tool call appears to run for ever. */
function interrupted(task: LiveTask, executionId: string): readonly TaskEvent[] {
  return [...task.openTools].map((toolId) =>
    ToolFinished.of(
      { executionId, toolId, ok: false, durationMs: null, exitCode: null, additions: null, deletions: null },
      { summary: 'interrupted', output: '' },
    ),
  )
}

/** Whether the message belongs to the task, queued or delivered. */
export function hasMessage(task: LiveTask, messageId: string): boolean {
  return task.delivered.has(messageId) || isQueued(task, messageId)
}

export const retriedOf = (task: LiveTask): QueuedMessage | undefined => task.lastTurn ?? task.queue[0]

function isQueued(task: LiveTask, messageId: string): boolean {
  return task.queue.some((message) => message.messageId === messageId)
}

/** The queued messages that a person may still change, because they are not on their way to a runner. */
function waitingOf(task: LiveTask): readonly QueuedMessage[] {
  return task.queue.filter(({ messageId }) => !isBeingStarted(task, messageId))
}

/** Why a message cannot be changed; `undefined` if it can. */
function refusalOfWaiting(task: LiveTask, messageId: string): Refusal | undefined {
  if (task.delivered.has(messageId) || isBeingStarted(task, messageId)) return refuse('message_delivered')
  return isQueued(task, messageId) ? undefined : refuse('not_found', 'There is no such message in this task.')
}

/** Whether a message is on its way to a runner or to the running turn, and therefore counts as delivered. */
function isBeingStarted(task: LiveTask, messageId: string): boolean {
  if (task.steering.includes(messageId)) return true
  return 'execution' in task.phase && task.phase.execution.messageId === messageId
}

/** Whether the message can be sent to the running turn: both must be turns of the same agent, and nobody may have asked to cancel the running one. */
function canSteer(task: LiveTask, { kind, agent }: QueuedMessage): boolean {
  if (task.phase.status !== 'running') return false
  const { execution } = task.phase
  return (
    kind === 'turn' && execution.kind === 'turn' && execution.agent === agent && !execution.cancelRequested
  )
}

function current(task: LiveTask, executionId: string): Execution | undefined {
  return 'execution' in task.phase && task.phase.execution.executionId === executionId
    ? task.phase.execution
    : undefined
}

function fenced(task: LiveTask, fence: Fence): Execution | undefined {
  const execution = current(task, fence.executionId)
  return execution !== undefined && execution.attempt > 0 && execution.attempt === fence.attempt
    ? execution
    : undefined
}

function isOf(fence: Fence, { data }: ProgressEvent): boolean {
  return data.executionId === null || data.executionId === fence.executionId
}

export const task: Decider<TaskState, TaskCommand, TaskEvent> = { initial: { kind: 'none' }, decide, evolve }
