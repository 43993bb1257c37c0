/** The tasks: one document per task, without its chat and terminal. */
import type { Task } from '../api/tasks.schema.ts'
import type { ProjectDocument } from './projects.ts'
import type { BlobRef } from '../kernel/ids.schema.ts'
import type { AgentName } from '../agents.ts'
import type { EndStatus } from '../task/phase.ts'
import { sortKey, type RecordedOf } from '../kernel/event.ts'
import type { TaskEvent } from '../task/events.ts'
import type { NamedImage } from '../task/commands.ts'
import type { QuestionKind } from '../task/questionEvents.ts'
import { outcomeOf, type EndEvent } from './chat.ts'
import { imagesOf, shownImage, type AddressOf } from './images.ts'
import { cleaned, withoutCleanUp, withWork } from './taskCleanUp.ts'
import { contextAfter, nothingUsed, progressAfter, step, used } from './taskExecution.ts'
import { ownDocument, type AnyRecorded, type Flaw, type View } from './view.ts'

export interface TaskDocument extends Omit<
  Task,
  'project' | 'images' | 'currentBranch' | 'modelAgent' | 'mode' | 'waitingFor'
> {
  readonly images: readonly NamedImage[]
  /** The agent for which the model was chosen. Any other agent uses its default model. */
  readonly modelAgent: AgentName
  /** The position of the creation as a text by which tasks are sorted. */
  readonly order: string
  readonly statusBefore: EndStatus | 'pending'
  readonly workspace: 'none' | 'preparing' | 'ready'
  readonly toolCalls: number
  readonly executions: number
  /** The title and body of a person's last request to make or rewrite the pull request; `null` when there was none. */
  readonly pullRequestWords: { readonly title: string; readonly body: string } | null
  readonly autoUpdate: boolean
  /** How freely the agent works; `free` when absent. */
  readonly mode?: Task['mode']
  /** The agent's unanswered questions. */
  readonly openQuestions?: readonly { readonly id: string; readonly kind: QuestionKind }[]
  /** Set for an alternative: the commit from which it starts, if the commit was known when it was created. */
  readonly startCommit?: string | null
  readonly recorded: {
    readonly blob: BlobRef | null
    readonly currentBranch: string
    readonly baseBranch: string
    readonly ahead: number
    readonly behind: number
    readonly truncated: boolean
    readonly tree: string | null
  } | null
}

export const tasksView: View<TaskDocument> = {
  collection: 'tasks',
  version: 2,
  streams: ['task'],
  indexes: [
    ['owner', 'order'],
    ['owner', 'status', 'order'],
    ['projectId', 'order'],
    ['projectId', 'status', 'order'],
    ['status', 'order'],
    ['pullRequestPending', 'order'],
    ['branch', 'order'],
    ['workingBranch', 'order'],
  ],
  flawed,
  touches: ownDocument('task'),
  evolve: (task, event, id) => {
    if (event.type === 'TaskCreated') return created(event, id)
    return task === undefined ? undefined : evolveTask(task, event)
  },
}

function failureOf(
  event: Extract<AnyRecorded, { type: 'ExecutionFailed' }>,
): NonNullable<TaskDocument['failure']> {
  const { code, retryAt } = event.data
  return { code, reason: event.content?.reason ?? '', ...(retryAt !== null && { retryAt }) }
}

/** Marks a task with a damaged stream. If the task's own stream is damaged, nothing can run in the task, because nothing could be recorded. */
function flawed(task: TaskDocument, unreadable: Flaw): TaskDocument {
  if (unreadable.stream === 'terminal') return { ...task, unreadable: task.unreadable ?? unreadable }
  const isActive = task.status === 'queued' || task.status === 'running'
  return { ...task, unreadable, status: isActive ? 'failed' : task.status, pullRequestPending: false }
}

function evolveTask(task: TaskDocument, event: AnyRecorded): TaskDocument | undefined {
  const seen = { ...upTo(task, event), ...contextAfter(task, event) }
  switch (event.type) {
    case 'TaskUpdated':
      return { ...seen, ...event.content }
    case 'ModelChosen':
      return modelChosen(seen, event)
    case 'MessageQueued':
      // The first message is recorded right after the creation, at revision 1. Its images are the task's images.
      return event.revision === 1 ? { ...seen, images: imagesOf(event) } : seen
    case 'TaskDeleted':
      return undefined
    case 'ExecutionRequested':
      return executionRequested(task, event)
    case 'ExecutionStarted':
      return {
        ...seen,
        status: 'running',
        progress: 5,
        execution: step(task.execution, { startedAt: event.at }),
      }
    case 'CancellationRequested':
      return { ...seen, execution: step(task.execution, { cancelRequested: true }) }
    case 'WorkspacePreparing':
      return {
        ...seen,
        workspace: task.workspace === 'ready' ? 'ready' : 'preparing',
        execution: step(task.execution, {}, { step: 'cloning', at: event.at }),
      }
    case 'WorkspacePrepared':
      return {
        ...withWork(seen),
        workspace: 'ready',
        progress: 10,
        workingBranch: event.content?.workingBranch ?? task.workingBranch,
        execution: step(task.execution, {}, { step: 'setup', at: event.at }),
      }
    case 'AgentStarted':
      return {
        ...seen,
        agent: event.data.agent,
        progress: 15,
        execution: step(task.execution, {}, { step: 'agent_started', at: event.at }),
      }
    case 'ToolStarted':
      return { ...seen, toolCalls: task.toolCalls + 1, progress: progressAfter(task.toolCalls + 1) }
    case 'UsageRecorded':
      return usageRecorded(task, event)
    case 'WorkspaceChanged':
      return workspaceChanged(task, event)
    case 'ExecutionCompleted':
      return ended(seen, event)
    case 'ExecutionFailed': {
      const failure = task.execution?.kind === 'turn' ? failureOf(event) : task.failure
      return { ...ended(seen, event), failure }
    }
    case 'ExecutionCancelled':
      return ended(seen, event)
    case 'PullRequestRequested':
      return pullRequestRequested(task, event)
    case 'PullRequestAutoUpdateChanged':
      return { ...seen, autoUpdate: event.data.on }
    case 'PullRequestOpened':
    case 'PullRequestUpdated':
      return published(task, event)
    case 'PullRequestFailed':
      return publishingFailed(seen, event.data)
    case 'PullRequestObserved':
      return observed(seen, event)
    case 'TaskCleanUpRequested':
    case 'TaskCleanUpBegun':
    case 'TaskCleanedUp':
      return cleaned(seen, event)
    default:
      return { ...seen, ...withOptionalFields(task, event) }
  }
}

type Event<Type extends TaskEvent['type']> = Extract<RecordedOf<TaskEvent>, { type: Type }>

function created(event: Event<'TaskCreated'>, id: string): TaskDocument {
  const { ownerId, projectId, agent } = event.data
  return {
    id,
    owner: ownerId,
    projectId,
    agent,
    codexModel: event.content?.codexModel ?? null,
    modelAgent: agent,
    title: event.content?.title ?? '',
    description: event.content?.description ?? '',
    branch: event.content?.branch ?? '',
    status: 'pending',
    statusBefore: 'pending',
    progress: 0,
    workingBranch: null,
    prUrl: null,
    prNumber: null,
    createdAt: event.at,
    updatedAt: event.at,
    execution: null,
    executions: 0,
    toolCalls: 0,
    failure: null,
    usage: { ...nothingUsed, model: null },
    changes: null,
    recorded: null,
    workspace: 'none',
    pullRequestPending: false,
    pullRequestWords: null,
    autoUpdate: false,
    images: [],
    order: sortKey(event.position),
    position: event.position,
    version: event.revision,
  }
}

function upTo(task: TaskDocument, event: Pick<AnyRecorded, 'revision' | 'at'>): TaskDocument {
  return { ...task, version: event.revision, updatedAt: event.at }
}

function executionRequested(task: TaskDocument, event: Event<'ExecutionRequested'>): TaskDocument {
  const { executionId, kind } = event.data
  const { lastUndo: _over, ...before } = upTo(task, event)
  return {
    ...withoutCleanUp(before),
    status: 'queued',
    statusBefore: task.status === 'queued' || task.status === 'running' ? 'pending' : task.status,
    progress: 0,
    toolCalls: 0,
    failure: kind === 'turn' ? null : task.failure,
    executions: task.executions + 1,
    ...(task.prNumber === null ? {} : { laterWork: true as const }),
    execution: {
      id: executionId,
      kind,
      turn: task.executions + 1,
      requestedAt: event.at,
      startedAt: null,
      endedAt: null,
      steps: [{ step: 'queued', at: event.at }],
      cancelRequested: false,
    },
  }
}

function modelChosen(
  { effort: _before, ...task }: TaskDocument,
  { data, content }: Event<'ModelChosen'>,
): TaskDocument {
  const effort = data.effort === undefined ? {} : { effort: data.effort }
  return { ...task, codexModel: content?.model ?? null, modelAgent: data.agent, ...effort }
}

function usageRecorded(task: TaskDocument, event: Event<'UsageRecorded'>): TaskDocument {
  const { inputTokens, outputTokens, costUsd, model } = event.data
  return {
    ...upTo(task, event),
    usage: {
      inputTokens: task.usage.inputTokens + inputTokens,
      outputTokens: task.usage.outputTokens + outputTokens,
      costUsd: task.usage.costUsd + costUsd,
      model: model ?? task.usage.model,
    },
    execution: used(task.execution, event.data),
  }
}

function workspaceChanged(task: TaskDocument, event: Event<'WorkspaceChanged'>): TaskDocument {
  const { files, additions, deletions, ahead, behind, truncated, blob } = event.data
  return {
    ...upTo(task, event),
    changes: { files, additions, deletions, recordedAt: event.at },
    recorded: {
      blob,
      ahead,
      behind,
      truncated,
      tree: event.content?.tree ?? null,
      currentBranch: event.content?.currentBranch ?? '',
      baseBranch: event.content?.baseBranch ?? '',
    },
  }
}

function pullRequestRequested(task: TaskDocument, event: Event<'PullRequestRequested'>): TaskDocument {
  // The title and body of an automatic request are not kept, because no person wrote or saw them.
  const isReworded = (task.prNumber === null && !event.data.automatic) || event.data.rewrites
  const { publishingFault: _before, ...seen } = upTo(task, event)
  return {
    ...seen,
    pullRequestPending: true,
    ...(event.content && isReworded
      ? { pullRequestWords: { title: event.content.title, body: event.content.body } }
      : {}),
  }
}

function published(
  task: TaskDocument,
  event: Event<'PullRequestOpened' | 'PullRequestUpdated'>,
): TaskDocument {
  const { pullRequest, laterWork: _published, ...seen } = upTo(task, event)
  const number = event.content?.number ?? task.prNumber
  return {
    ...withWork(withoutCleanUp(seen)),
    // The known state of the pull request is kept, unless this is a new pull request.
    ...(pullRequest !== undefined && number === task.prNumber ? { pullRequest } : {}),
    pullRequestPending: false,
    prNumber: number,
    prUrl: event.content?.url ?? task.prUrl,
  }
}

function publishingFailed(
  { laterWork, ...task }: TaskDocument,
  { code }: Event<'PullRequestFailed'>['data'],
): TaskDocument {
  const later = laterWork && code !== 'no_changes' ? { laterWork } : {}
  return { ...task, ...later, pullRequestPending: false, publishingFault: code }
}

function observed(task: TaskDocument, { data, content }: Event<'PullRequestObserved'>): TaskDocument {
  const state = data.state === 'open' && data.draft ? 'draft' : data.state
  const pullRequest: NonNullable<Task['pullRequest']> = {
    state,
    mergedBy: content?.mergedBy ?? null,
    mergedAt: data.mergedAt,
    unreadable: null,
    ...(task.pullRequest?.standing ? { standing: task.pullRequest.standing } : {}),
  }
  return { ...(data.state === 'open' ? withoutCleanUp(task) : task), pullRequest }
}

const neverRead = { state: null, mergedBy: null, mergedAt: null }

/** The fields that `event` changes and that only some tasks have, for example tasks with forks, alternatives, undone turns or an issue. */
function withOptionalFields(task: TaskDocument, event: AnyRecorded): Partial<TaskDocument> {
  switch (event.type) {
    case 'TaskCreatedFromTurn': {
      const { taskId, executionId, session } = event.data
      const title = event.content?.title ?? ''
      return { forkedFrom: { taskId, executionId, title, resumes: session?.agent === task.agent } }
    }
    case 'TaskForked':
      return { forks: [...(task.forks ?? []), { ...event.data, title: event.content?.title ?? '' }] }
    case 'TurnsUndone': {
      const { undoId, executionId, undone, redone } = event.data
      const before = (task.undone ?? []).filter((id) => !redone.includes(id))
      return { undone: [...before, ...undone], lastUndo: { id: undoId, executionId } }
    }
    case 'TaskCreatedToCompare': {
      const { title, baseCommit } = event.content ?? { title: '', baseCommit: null }
      return { original: { taskId: event.data.taskId, title }, startCommit: baseCommit }
    }
    case 'TaskCreatedFromIssue':
      return event.content === null ? {} : { issue: { number: event.content.number, url: event.content.url } }
    case 'PullRequestStandingObserved': {
      if (event.content !== null && event.content.number !== task.prNumber) return {}
      const standing = { ...event.data, headCommit: event.content?.headCommit ?? null }
      return { pullRequest: { ...(task.pullRequest ?? { ...neverRead, unreadable: null }), standing } }
    }
    case 'PullRequestUnreadable':
      return { pullRequest: { ...(task.pullRequest ?? neverRead), unreadable: event.data.code } }
    case 'QuestionAsked': {
      const { questionId: id, kind } = event.data
      return { openQuestions: [...(task.openQuestions ?? []), { id, kind }] }
    }
    case 'QuestionAnswered':
    case 'QuestionWithdrawn':
      return { openQuestions: (task.openQuestions ?? []).filter(({ id }) => id !== event.data.questionId) }
    case 'AgentModeChosen':
      return { mode: event.data.mode }
    case 'AlternativeAdded':
      return {
        alternatives: [
          ...(task.alternatives ?? []),
          { taskId: event.data.taskId, title: event.content?.title ?? '' },
        ],
      }
    case 'AlternativeRemoved':
      return { alternatives: (task.alternatives ?? []).filter(({ taskId }) => taskId !== event.data.taskId) }
    default:
      return {}
  }
}

function ended(task: TaskDocument, event: RecordedOf<EndEvent>): TaskDocument {
  const isCommand = task.execution?.kind === 'command'
  const outcome = outcomeOf(event, isCommand)
  const status = isCommand ? task.statusBefore : outcome
  return {
    ...task,
    status,
    progress: status === 'completed' ? 100 : task.progress,
    workspace: task.workspace === 'preparing' ? 'none' : task.workspace,
    execution: step(task.execution, { endedAt: event.at, outcome }),
  }
}

/** The number of tool calls after which the shown percentage no longer changes. */
export const toolCallsThatShow = 49

/** The task's document without the fields that only the server needs. */
export function shownOf(document: TaskDocument) {
  const {
    statusBefore: _statusBefore,
    workspace: _workspace,
    toolCalls: _toolCalls,
    executions: _executions,
    recorded: _recorded,
    order: _order,
    pullRequestWords: _pullRequestWords,
    autoUpdate: _autoUpdate,
    startCommit: _startCommit,
    mode = 'free',
    openQuestions,
    ...shown
  } = document
  return { ...shown, mode, waitingFor: openQuestions?.[0]?.kind ?? null }
}

/** The task as the API shows it. `addressOf` makes the addresses of its images. */
export function taskOf(
  document: TaskDocument,
  project: ProjectDocument | undefined,
  addressOf: AddressOf,
): Task {
  const { images: kept, ...shown } = shownOf(document)
  const images = kept.map((image) => ({
    ...shownImage(image, document.id, addressOf),
    uploadedAt: image.uploadedAt,
  }))
  return {
    ...shown,
    images,
    project: projectOfTask(document.projectId, project),
    currentBranch: currentBranchOf(document),
  }
}

/** The branch that was checked out in the workspace when the changes were last recorded; `null` when it is not known. */
export function currentBranchOf({ recorded }: Pick<TaskDocument, 'recorded'>): string | null {
  return recorded?.currentBranch || null
}

function projectOfTask(id: string, project: ProjectDocument | undefined): Task['project'] {
  return {
    id,
    name: project?.name ?? '',
    githubRepoName: project?.githubRepoName ?? '',
    githubOwner: project?.githubOwner ?? '',
  }
}
