/** Applies events to the state of a task. */
import type { RecordedOf } from '../kernel/event.ts'
import { noArtifacts, withArtifact } from './artifactState.ts'
import { afterWorkspace, isOfCleanUp, noCleanUp, withCleanUp } from './codeHost/cleanUpState.ts'
import {
  failedIn,
  doneBy,
  isOfFeedback,
  noFeedback,
  owesAnswer,
  publishedWith,
  retriedWith,
  withdrawnWith,
  withFeedback,
  workedOn,
} from './codeHost/feedbackState.ts'
import { isOfIssue, issueAfter } from './codeHost/issueState.ts'
import { reordered, without } from './queue.ts'
import { isOfQuestions, noQuestions, withoutPending, withQuestions } from './questionState.ts'
import { isOfPullRequest, observedIn, publishedAs, standingIn } from './codeHost/pullRequestState.ts'
import type { TaskEvent } from './events.ts'
import { cancelRequestedIn, sentIn, type EndStatus, type Execution } from './phase.ts'
import { modelChosen } from './modelChoice.ts'
import { noPoints, started, wentBack, withSnapshot, type Snapshot } from './restorePoints.ts'
import type { LiveTask, TaskState } from './state.ts'

export function evolve(state: TaskState, event: RecordedOf<TaskEvent>): TaskState {
  if (event.type === 'TaskCreated') {
    const { taskId, ownerId, projectId, agent } = event.data
    return {
      kind: 'task',
      taskId,
      ownerId,
      projectId,
      agent,
      title: event.content?.title ?? '',
      description: event.content?.description ?? '',
      model: { agent, name: event.content?.codexModel ?? null, effort: null },
      phase: { status: 'pending' },
      queue: [],
      steering: [],
      delivered: new Set(),
      lastTurn: null,
      workspace: 'none',
      lastRunnerId: null,
      session: null,
      saved: null,
      restorePoints: noPoints,
      origin: null,
      baseCommit: null,
      original: null,
      alternatives: [],
      forks: [],
      pendingRestore: null,
      openTools: new Set(),
      changedFiles: 0,
      changedTree: null,
      treeBefore: null,
      pullRequest: null,
      pullRequestRequest: null,
      requestedPullRequest: null,
      lostAccess: false,
      autoUpdate: false,
      updateOwed: false,
      feedback: noFeedback,
      issue: null,
      cleanUp: noCleanUp,
      questions: noQuestions,
      artifacts: noArtifacts,
    }
  }
  return state.kind === 'task' ? evolveTask(state, event) : state
}

function evolveTask(
  task: LiveTask,
  event: Exclude<RecordedOf<TaskEvent>, { type: 'TaskCreated' }>,
): TaskState {
  if (isOfPullRequest(event)) return withPullRequest(task, event)
  if (isOfIssue(event)) return { ...task, issue: issueAfter(task.issue, event) }
  if (isOfCleanUp(event)) return { ...task, cleanUp: withCleanUp(task.cleanUp, event) }
  if (isOfQuestions(event)) return { ...task, questions: withQuestions(task.questions, event) }
  if (isOfFeedback(event)) return { ...task, feedback: withFeedback(task.feedback, event) }
  if (event.type === 'ArtifactKept') return { ...task, artifacts: withArtifact(task.artifacts, event) }
  switch (event.type) {
    case 'TaskUpdated':
      return event.content === null ? task : { ...task, ...event.content }
    case 'ModelChosen':
      return { ...task, model: modelChosen(event) }
    case 'TaskDeleted':
      return { kind: 'deleted', ownerId: task.ownerId }
    case 'MessageQueued':
      return messageQueued(task, event.data)
    case 'MessageWithdrawn':
      return messageWithdrawn(task, event.data.messageId)
    case 'SteeringRequested':
      return { ...task, steering: [...task.steering, event.data.messageId] }
    case 'QueueReordered':
      return { ...task, queue: reordered(task.queue, event.data.messageIds) }
    case 'MessageDelivered': {
      const { messageId, executionId } = event.data
      return hadItsTurn({ ...task, feedback: workedOn(task.feedback, messageId, executionId) }, messageId)
    }
    case 'ExecutionRequested':
      return executionRequested(task, event.data)
    case 'ExecutionStarted':
      return executionStarted(task, event.data)
    case 'CancellationRequested':
      return { ...task, phase: cancelRequestedIn(task.phase) }
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      return executionEnded(task, event)
    case 'WorkspacePreparing':
      return task.workspace === 'ready' ? task : { ...task, workspace: 'preparing' }
    case 'WorkspacePrepared':
      return prepared(task, event)
    case 'WorkSaved':
    case 'WorkspaceSnapshotTaken':
      return snapshotTaken(task, event)
    case 'TaskCreatedFromTurn':
      return createdFromTurn(task, event)
    case 'TaskCreatedToCompare':
    case 'AlternativeAdded':
    case 'AlternativeRemoved':
    case 'TaskForked':
      return relatedTo(task, event)
    case 'TurnsUndone':
      return turnsUndone(task, event.data)
    case 'WorkspaceRestored':
      return restored(task, event.data)
    case 'WorkspaceChanged':
      return { ...task, changedFiles: event.data.files, changedTree: event.content?.tree ?? null }
    case 'AgentStarted':
      return agentStarted(task, event.data)
    case 'ToolStarted':
    case 'ToolFinished':
      return withTool(task, event)
    case 'MessagePosted':
    case 'ThinkingRecorded':
    case 'SubagentSaid':
    case 'ToolImagesKept':
    case 'AgentActedUnasked':
    case 'McpServersReported':
    case 'ModelRetryScheduled':
    case 'MessageEdited':
    case 'SecretsGranted':
    case 'ShellOpened':
    case 'CommandOutputRecorded':
    case 'UsageRecorded':
    case 'ContextMeasured':
      return task
  }
}

function messageQueued(task: LiveTask, { images: _images, ...queued }: DataOf<'MessageQueued'>): LiveTask {
  return { ...task, phase: sentIn(task.phase, queued.messageId), queue: [...task.queue, queued] }
}

function messageWithdrawn(task: LiveTask, messageId: string): LiveTask {
  const feedback = withdrawnWith(task.feedback, messageId)
  return { ...task, feedback, queue: without(task.queue, messageId) }
}

function withPullRequest(
  task: LiveTask,
  event: Extract<RecordedOf<TaskEvent>, { type: `PullRequest${string}` }>,
): LiveTask {
  switch (event.type) {
    case 'PullRequestRequested':
      return {
        ...task,
        pullRequestRequest: event.data.requestId,
        requestedPullRequest: event.content && { ...event.content, draft: event.data.draft },
        lostAccess: false,
        updateOwed: false,
      }
    case 'PullRequestAutoUpdateChanged':
      return { ...task, autoUpdate: event.data.on, updateOwed: task.updateOwed && event.data.on }
    case 'PullRequestOpened':
    case 'PullRequestUpdated':
      return pullRequestDone(task, event.content)
    case 'PullRequestFailed':
      return pullRequestFailed(task, event.data)
    case 'PullRequestObserved':
      return task.pullRequest === null ? task : { ...task, pullRequest: observedIn(task.pullRequest, event) }
    case 'PullRequestStandingObserved':
      return task.pullRequest === null ? task : { ...task, pullRequest: standingIn(task.pullRequest, event) }
    case 'PullRequestDraftRequested':
      return task.pullRequest === null
        ? task
        : { ...task, pullRequest: { ...task.pullRequest, draftRequested: event.data.draft } }
    case 'PullRequestUnreadable':
      return task.pullRequest === null
        ? task
        : { ...task, pullRequest: { ...task.pullRequest, unreadable: event.data.code } }
  }
}

type DataOf<Type extends TaskEvent['type']> = Extract<TaskEvent, { type: Type }>['data']

function executionRequested(task: LiveTask, requested: DataOf<'ExecutionRequested'>): LiveTask {
  const { executionId, kind, messageId, agent } = requested
  const execution: Execution = {
    executionId,
    kind,
    messageId,
    agent,
    attempt: 0,
    cancelRequested: false,
    sentSinceCancel: [],
    statusBefore: 'execution' in task.phase ? 'pending' : task.phase.status,
  }
  return {
    ...task,
    phase: { status: 'queued', execution },
    treeBefore: task.changedTree,
    lastTurn: kind === 'turn' ? { messageId, kind, agent } : task.lastTurn,
    feedback: retriedWith(task.feedback, messageId),
  }
}

function executionStarted(task: LiveTask, { attempt, runnerId }: DataOf<'ExecutionStarted'>): LiveTask {
  if (!('execution' in task.phase)) return task
  const execution = { ...task.phase.execution, attempt }
  const restorePoints = started(task.restorePoints, execution)
  const feedback = workedOn(task.feedback, execution.messageId, execution.executionId)
  return { ...task, phase: { status: 'running', execution }, lastRunnerId: runnerId, restorePoints, feedback }
}

type RecordedAs<Type extends TaskEvent['type']> = Extract<RecordedOf<TaskEvent>, { type: Type }>

function executionEnded(
  task: LiveTask,
  event: RecordedAs<'ExecutionCompleted' | 'ExecutionFailed' | 'ExecutionCancelled'>,
): LiveTask {
  const { executionId, messageId } = event.data
  const hasChanged = hasChangedFiles(task)
  if (event.type === 'ExecutionCompleted') {
    const isTurn = 'execution' in task.phase && task.phase.execution.kind === 'turn'
    const isOwed = isTurn && (task.autoUpdate || owesAnswer(task, executionId))
    const feedback = doneBy(task.feedback, executionId, hasChanged)
    return { ...ended(task, 'completed'), feedback, updateOwed: task.updateOwed || isOwed }
  }
  const feedback = failedIn(task.feedback, { executionId, messageId }, hasChanged)
  if (event.type === 'ExecutionFailed') return { ...ended(task, 'failed'), feedback }
  // The message of a cancelled execution leaves the queue, even if the execution never started. A retry can still run it.
  return { ...ended(hadItsTurn(task, messageId), 'cancelled'), feedback }
}

function prepared(task: LiveTask, { content }: RecordedAs<'WorkspacePrepared'>): LiveTask {
  const baseCommit = task.baseCommit ?? content?.baseCommit ?? null
  return { ...task, workspace: 'ready', cleanUp: afterWorkspace(task.cleanUp), baseCommit }
}

function snapshotTaken(
  task: LiveTask,
  { data: { executionId, bundle, session }, content }: RecordedAs<'WorkSaved' | 'WorkspaceSnapshotTaken'>,
): LiveTask {
  if (bundle === null || content === null || content.work === null) return task
  const sessionId = session?.agent === task.session?.agent ? (task.session?.sessionId ?? null) : null
  const snapshot: Snapshot = { work: content.work, bundle, session: session && { ...session, sessionId } }
  const { points, at } = task.restorePoints
  // The snapshot of an undone turn may be taken after its undo, and then the saved files are still those to which the undo goes back.
  const isUndone = at === null || points[at]?.executionId !== executionId
  const restorePoints = withSnapshot(task.restorePoints, executionId, snapshot)
  return { ...task, saved: isUndone ? task.saved : snapshot, restorePoints }
}

function createdFromTurn(
  task: LiveTask,
  { data: { taskId, executionId, bundle, session }, content }: RecordedAs<'TaskCreatedFromTurn'>,
): LiveTask {
  if (content === null) return task
  const snapshot: Snapshot = { work: content.work, bundle, session }
  return {
    ...task,
    origin: { taskId, executionId, snapshot, transcript: content.transcript },
    saved: snapshot,
    session: session && { agent: session.agent, sessionId: session.sessionId },
    pendingRestore: { executionId, reason: 'fork' },
  }
}

function relatedTo(
  task: LiveTask,
  event: RecordedAs<'TaskCreatedToCompare' | 'AlternativeAdded' | 'AlternativeRemoved' | 'TaskForked'>,
): LiveTask {
  const { taskId } = event.data
  switch (event.type) {
    case 'TaskCreatedToCompare':
      return { ...task, original: taskId, baseCommit: event.content?.baseCommit ?? null }
    case 'AlternativeAdded':
      return { ...task, alternatives: [...task.alternatives, taskId] }
    case 'AlternativeRemoved':
      return { ...task, alternatives: task.alternatives.filter((id) => id !== taskId) }
    case 'TaskForked':
      return { ...task, forks: [...task.forks, taskId] }
  }
}

function withTool(
  task: LiveTask,
  { type, data: { toolId } }: RecordedAs<'ToolStarted' | 'ToolFinished'>,
): LiveTask {
  const others = [...task.openTools].filter((id) => id !== toolId)
  return { ...task, openTools: new Set(type === 'ToolStarted' ? [...others, toolId] : others) }
}

function agentStarted(task: LiveTask, { agent, sessionId }: DataOf<'AgentStarted'>): LiveTask {
  return { ...task, agent, session: { agent, sessionId } }
}

function restored(task: LiveTask, { executionId }: DataOf<'WorkspaceRestored'>): LiveTask {
  return task.pendingRestore?.executionId === executionId ? { ...task, pendingRestore: null } : task
}

function turnsUndone(task: LiveTask, data: DataOf<'TurnsUndone'>): LiveTask {
  const restorePoints = wentBack(task.restorePoints, data)
  const { points, at } = restorePoints
  const saved = at === null ? (task.origin?.snapshot ?? null) : (points[at]?.snapshot ?? null)
  const session = saved?.session ?? null
  return {
    ...task,
    restorePoints,
    // An artifact of an undone turn counts as new when a turn makes it again.
    artifacts: { ...task.artifacts, digests: noArtifacts.digests },
    questions: withoutPending(task.questions),
    saved,
    session: session?.sessionId == null ? null : { agent: session.agent, sessionId: session.sessionId },
    // Without a workspace, there are no files to restore.
    pendingRestore:
      task.workspace === 'ready' || task.pendingRestore !== null
        ? {
            executionId: data.undoId,
            reason: task.pendingRestore?.reason === 'fork' ? 'fork' : 'undo',
          }
        : null,
    changedTree: null,
  }
}

function pullRequestDone(
  task: LiveTask,
  content: { readonly number: number; readonly headCommit: string } | null,
): LiveTask {
  const pullRequest = content && publishedAs(task.pullRequest, content)
  // The publication has pushed the branch, so the code host has the branch again.
  const cleanUp = afterWorkspace(task.cleanUp)
  const feedback = publishedWith(task.feedback)
  return { ...task, pullRequest, pullRequestRequest: null, requestedPullRequest: null, cleanUp, feedback }
}

function pullRequestFailed(task: LiveTask, { code }: DataOf<'PullRequestFailed'>): LiveTask {
  const isOwed = task.autoUpdate && code === 'task_running'
  const feedback = code === 'no_changes' ? publishedWith(task.feedback) : task.feedback
  const lostAccess = code === 'github_not_connected'
  const updateOwed = task.updateOwed || isOwed
  return { ...task, pullRequestRequest: null, requestedPullRequest: null, lostAccess, updateOwed, feedback }
}

/** The state after the end of an execution. After a turn, the status is the turn's outcome. After a command, it is the status from before. */
function ended(task: LiveTask, outcome: EndStatus): LiveTask {
  if (!('execution' in task.phase)) return task
  const { execution } = task.phase
  const workspace = task.workspace === 'preparing' ? 'none' : task.workspace
  return {
    ...task,
    workspace,
    // Messages that did not reach the turn in time stay queued.
    steering: [],
    phase: { status: execution.kind === 'command' ? execution.statusBefore : outcome },
  }
}

/** Whether the execution that ends has changed files. Also `true` when this is unknown. */
function hasChangedFiles({ treeBefore, changedTree }: LiveTask): boolean {
  return treeBefore === null || changedTree === null || treeBefore !== changedTree
}

function hadItsTurn(task: LiveTask, messageId: string): LiveTask {
  return {
    ...task,
    queue: without(task.queue, messageId),
    steering: task.steering.filter((id) => id !== messageId),
    delivered: new Set([...task.delivered, messageId]),
  }
}
