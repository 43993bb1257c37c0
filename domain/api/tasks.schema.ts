/** Tasks: creating them, running them, and their pull requests. */
import { z } from 'zod'
import { defaultAgent } from '../agents.ts'
import { Position } from '../kernel/event.schema.ts'
import { unreadableReasons } from '../kernel/event.ts'
import { ProjectId, TaskId } from '../kernel/ids.schema.ts'
import { AgentName, UnreadableCode } from '../task/events.ts'
import { workPlaces } from '../task/codeHost/cleanUpEvents.ts'
import { AgentMode, QuestionKind } from '../task/questionEvents.ts'
import { CheckCounts, ReviewDecision } from '../task/codeHost/feedbackEvents.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { branchOutcomes, workspaceOutcomes } from './cleanUp.ts'
import { attachedImages, ShownImage } from './images.schema.ts'
import { imageLimits } from './images.ts'
import {
  Cursor,
  branchName,
  effortName,
  modelName,
  Moment,
  queryNumber,
  required,
  success,
  Text,
} from './fields.schema.ts'
import { limits } from './limits.ts'
import { executionSteps, pullRequestStates, taskRoutes, taskStatuses, titleLength } from './tasks.ts'

export const TaskStatus = z.enum(taskStatuses)

export const ShownPullRequest = z.object({
  /** `null` until the pull request was read for the first time. */
  state: z.enum(pullRequestStates).nullable(),
  /** The login of the person who merged the pull request; `null` when nobody merged it explicitly. */
  mergedBy: z.string().nullable(),
  mergedAt: Moment.nullable(),
  /** Why the code host does not show the pull request at the moment, so that `state` may be outdated; `null` while it shows the pull request. */
  unreadable: UnreadableCode.nullable(),
  /** The result of the pull request's reviews and checks, and the commit to which it applies; missing until first read. */
  standing: z
    .object({
      /** `null` when no review is required and no reviewer approved or requested changes. */
      review: ReviewDecision.nullable(),
      /** The numbers of checks; `null` when the commit has no checks, or when the checks cannot be read. */
      checks: CheckCounts.nullable(),
      /** `false` when the token that reads the pull request has no permission to read its checks. */
      checksReadable: z.boolean(),
      headCommit: z.string().nullable(),
    })
    .optional(),
})

export const Task = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  status: TaskStatus,
  progress: z.number(),
  agent: AgentName,
  projectId: z.string(),
  project: z.object({
    id: z.string(),
    name: z.string(),
    githubRepoName: z.string(),
    githubOwner: z.string(),
  }),
  branch: z.string(),
  /** The model requested for `modelAgent`, whichever agent this is; only the field's name says `codex`. */
  codexModel: z.string().nullable(),
  /** The agent for which model and effort were chosen. Any other agent uses its own defaults. */
  modelAgent: AgentName,
  /** The chosen effort; absent when the agent uses its own default. */
  effort: z.string().optional(),
  images: z.array(z.object({ ...ShownImage.shape, uploadedAt: Moment })),
  /** How freely the task's agent works. */
  mode: AgentMode,
  /** The kind of the oldest question that the agent waits for a person to answer; `null` when no question is open. */
  waitingFor: QuestionKind.nullable(),
  workingBranch: z.string().nullable(),
  /** The branch checked out in the task's workspace, or the short id of the commit if none is; `null` until recorded. */
  currentBranch: z.string().nullable(),
  prUrl: z.string().nullable(),
  prNumber: z.number().nullable(),
  owner: z.string(),
  createdAt: Moment,
  updatedAt: Moment,
  execution: z
    .object({
      id: z.string(),
      kind: z.enum(['turn', 'command']),
      /** The turn's number among the turns and commands of the task. */
      turn: z.number(),
      requestedAt: Moment,
      startedAt: Moment.nullable(),
      endedAt: Moment.nullable(),
      steps: z.array(z.object({ step: z.enum(executionSteps), at: Moment })),
      cancelRequested: z.boolean(),
      /** How the turn or command ended; missing before its end, and when it was recorded before this field existed. */
      outcome: z.enum(['completed', 'failed', 'cancelled']).optional(),
      /** The usage of models by the turn; missing until some is recorded. */
      usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() }).optional(),
    })
    .nullable(),
  /** The turn of another task from which this task was created, with the other task's title at that time. */
  forkedFrom: z
    .object({
      taskId: z.string(),
      executionId: z.string(),
      title: z.string(),
      /** Whether the agent resumes the other task's session; otherwise it gets the conversation as text. */
      resumes: z.boolean(),
    })
    .optional(),
  forks: z.array(z.object({ taskId: z.string(), executionId: z.string(), title: z.string() })).optional(),
  /** The task to which this task is an alternative, with the title that it had when this task was created. */
  original: z.object({ taskId: z.string(), title: z.string() }).optional(),
  alternatives: z.array(z.object({ taskId: z.string(), title: z.string() })).optional(),
  issue: z.object({ number: z.number(), url: z.string() }).optional(),
  undone: z.array(z.string()).optional(),
  /** The latest undo, until the task is continued: the undo's id, and the id of the turn, command or undo that it undid. */
  lastUndo: z.object({ id: z.string(), executionId: z.string() }).optional(),
  /**
   * Set when a stream of the task is damaged: which stream, from which event on, and why. A task whose own stream is damaged cannot be continued.
   * When only the terminal's stream is damaged, some printed output is lost, and the task can be continued. Missing when everything can be read.
   */
  unreadable: z
    .object({
      stream: z.enum(['task', 'terminal']).optional(),
      revision: z.number(),
      reason: z.enum(unreadableReasons),
    })
    .optional(),
  /** Why the last turn failed and, if the code host asked to wait, until when. */
  failure: z.object({ code: z.string(), reason: z.string(), retryAt: Moment.optional() }).nullable(),
  usage: z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    costUsd: z.number(),
    model: z.string().nullable(),
  }),
  /** How much of the model's context window the agent's conversation takes; missing or `null` when unknown. */
  context: z.object({ usedTokens: z.number(), windowTokens: z.number() }).nullable().optional(),
  changes: z
    .object({ files: z.number(), additions: z.number(), deletions: z.number(), recordedAt: Moment })
    .nullable(),
  pullRequestPending: z.boolean(),
  /** The fault of the last attempt to publish; missing when the attempt succeeded, and while another attempt runs. */
  publishingFault: z.string().optional(),
  /** The state of the pull request at the code host; missing before the first attempt to read it. */
  pullRequest: ShownPullRequest.optional(),
  /** Set when something has run since the last publication, so that there may be unpublished work. */
  laterWork: z.literal(true).optional(),
  /** The outcome of the last clean-up for branch and workspace; missing before, and once the task goes on, or its pull request is open again. */
  cleanUp: z
    .object({ at: Moment, branch: z.enum(branchOutcomes), workspace: z.enum(workspaceOutcomes) })
    .optional(),
  /**
   * The progress of the latest clean-up; missing before the first clean-up. `request` is the clean-up's id, and `null` once `cleanUp` shows its
   * outcome or the outcome no longer counts. `work` says where the task's work was when the removal of the workspace began.
   */
  cleaning: z
    .object({
      request: z.string().nullable(),
      work: z.enum(workPlaces).nullable(),
      isBranchGone: z.boolean(),
    })
    .optional(),
  /** The position of the task's creation, by which tasks are sorted. */
  position: Position,
  /** The revision of the task's stream up to which these fields are current. */
  version: z.number(),
})
export type Task = z.infer<typeof Task>

export const ChangedFile = z.object({
  fileName: z.string(),
  previousName: z.string().optional(),
  status: z.enum(['added', 'untracked', 'modified', 'deleted', 'renamed']),
  additions: z.number(),
  deletions: z.number(),
  binary: z.boolean(),
  diff: z.string(),
  /** Set when the path is a nested repository, which no pull request includes. */
  leftOut: z.literal(true).optional(),
})
export type ChangedFile = z.infer<typeof ChangedFile>

export const GitDiff = z.object({
  status: z.enum(['pending_clone', 'not_initialized', 'ready']),
  message: z.string().optional(),
  changedFiles: z.array(ChangedFile),
  totalChanges: z.number(),
  currentBranch: z.string(),
  exists: z.boolean(),
  commitComparison: z.object({ ahead: z.number(), behind: z.number() }),
  baseBranch: z.string(),
  truncated: z.boolean(),
  /** The hash of the git tree that this diff shows. `null` while an agent writes, before changes are recorded, and for another base branch. */
  tree: z.string().nullable(),
  version: z.number(),
})
export type GitDiff = z.infer<typeof GitDiff>

const PullRequest = z.object({ html_url: z.string(), number: z.number() })

const params = z.object({ taskId: TaskId })
const taskAnswer = { task: Task }

export const listTasks = defineRead(taskRoutes.listTasks, {
  summary: "The person's tasks, newest first.",
  query: {
    project: ProjectId.optional(),
    status: TaskStatus.optional(),
    limit: queryNumber(1000).default(50),
    after: Cursor.optional(),
  },
  answer: { tasks: z.array(Task), next: z.string().nullable() },
})

export const getTask = defineRead(taskRoutes.getTask, {
  summary: 'Returns a task and its changes.',
  params,
  answer: { ...taskAnswer, data: z.object({ changedFiles: z.array(ChangedFile) }) },
  faults: ['not_found'],
})

export const createTask = defineWrite(taskRoutes.createTask, {
  summary: 'Creates a task and starts its agent.',
  body: z.object({
    id: TaskId.optional(),
    title: Text.max(limits.descriptionLength).optional(),
    description: required('Please enter a task description', limits.descriptionLength),
    projectId: required('Please select a project', 100).pipe(ProjectId),
    branch: branchName('Please select a branch'),
    codexModel: modelName.nullable().optional(),
    /** How hard the agent thinks: one of the levels that the agent reports for its model. */
    effort: effortName.nullable().optional(),
    images: attachedImages(imageLimits.aTask).optional(),
    agent: AgentName.default(defaultAgent),
    mode: AgentMode.optional(),
  }),
  status: 201,
  answer: taskAnswer,
  faults: ['not_found', 'already_exists', 'agent_unavailable'],
})

export const updateTask = defineWrite(taskRoutes.updateTask, {
  summary:
    'Changes the title, description, model or effort. A new model or effort applies from the next turn.',
  params,
  body: z.object({
    title: required('A task needs a title.', titleLength).optional(),
    description: required('Please enter a task description', limits.descriptionLength).optional(),
    codexModel: modelName.nullable().optional(),
    effort: effortName.nullable().optional(),
    /** The agent for which model and effort were chosen; defaults to the task's agent. */
    agent: AgentName.optional(),
    /** The mode that applies from the next turn on. */
    mode: AgentMode.optional(),
  }),
  answer: taskAnswer,
  faults: ['not_found'],
})

export const deleteTask = defineWrite(taskRoutes.deleteTask, {
  summary: 'Deletes the task and stops whatever it is running.',
  params,
  answer: success,
  faults: ['not_found'],
})

export const retryTask = defineWrite(taskRoutes.retryTask, {
  summary: 'Runs the last message again.',
  params,
  answer: taskAnswer,
  faults: ['not_found', 'task_running', 'agent_unavailable'],
})

export const executeTask = defineWrite(taskRoutes.executeTask, {
  summary: 'Runs a shell command in the task, or starts what is queued.',
  params,
  body: z
    .object({
      command: required('Enter a command.', limits.messageLength).optional(),
      /** The command gets the project's secrets only if this is true. */
      withSecrets: z.boolean().optional(),
    })
    .optional(),
  answer: taskAnswer,
  faults: ['not_found', 'task_running', 'nothing_to_run'],
})

export const cancelTask = defineWrite(taskRoutes.cancelTask, {
  summary: 'Stops whatever is running or queued.',
  params,
  answer: taskAnswer,
  faults: ['not_found', 'not_running'],
})

export const getTaskDiff = defineRead(taskRoutes.getTaskDiff, {
  summary: 'The changes of the task, compared with the merge base.',
  params,
  // Without `baseBranch`, the changes are compared with the recorded base branch.
  query: {
    baseBranch: z.union([z.literal('').transform(() => undefined), branchName('Name a branch.')]).optional(),
  },
  answer: { data: GitDiff },
  faults: ['not_found', 'base_not_recorded'],
})

const lineNumber = queryNumber(10_000_000)

export const getFileLines = defineRead(taskRoutes.getFileLines, {
  summary: 'Lines of the original version of a changed file, to show around the changes.',
  params,
  query: { path: Text.min(1).max(4_096), from: lineNumber, to: lineNumber },
  answer: {
    /** The first requested line, counted from 1. */
    from: z.number(),
    /** The lines, at most 500. There are fewer than requested when they are long or the file ends. Each line is cut to 2,000 characters. */
    lines: z.array(z.string()),
    total: z.number(),
  },
  faults: ['not_found', 'not_initialized'],
})

export const getPullRequest = defineRead(taskRoutes.getPullRequest, {
  summary: 'The pull request, if there is one, with a suggested title and description.',
  params,
  answer: {
    pr: PullRequest.nullable(),
    /**
     * A title and body made from the task and the chat. While a pull request is open, the title and body that a person last requested for it, if any.
     */
    proposal: z.object({ title: z.string(), body: z.string() }),
    autoUpdate: z.boolean(),
    /**
     * The number of files that the agent left for people in turns that were not undone, and a Markdown text for the description that names them;
     * absent without such files.
     */
    artifacts: z.object({ count: z.number(), text: z.string() }).optional(),
  },
  faults: ['not_found'],
})

export const createPullRequest = defineWrite(taskRoutes.createPullRequest, {
  summary: 'Pushes the work and opens a pull request, or updates the existing one.',
  params,
  body: z
    .object({
      title: required('A pull request needs a title.', 250).optional(),
      body: Text.max(60_000).optional(),
      /** Whether the pull request is opened as a draft; `false` also marks an existing draft as ready. */
      draft: z.boolean().optional(),
      /** Whether each successful turn updates the pull request from now on. If missing, the current choice stays. */
      autoUpdate: z.boolean().optional(),
      /** Whether to open a new pull request if the task's last pull request was merged or closed. Otherwise the request is refused. */
      openNew: z.boolean().optional(),
      /** The `tree` of the diff that the person looked at, even if `null`. If other changes were recorded since then, the request is refused. */
      tree: Text.max(64).nullable().optional(),
    })
    .optional(),
  answer: { pr: PullRequest, task: Task },
  faults: [
    'not_found',
    'not_initialized',
    'no_changes',
    'task_running',
    'changes_moved',
    'pull_request_merged',
    'pull_request_closed',
    'pr_in_progress',
    'conflict',
    'code_host_refused',
  ],
})

export const prepareTask = defineWrite(taskRoutes.prepareTask, {
  summary:
    'Prepares a workspace for a task that is created with the same id, branch and agent within a minute. It records nothing, is optional, and does nothing for an existing task.',
  params: z.object({ projectId: ProjectId }),
  body: z.object({
    taskId: TaskId,
    branch: branchName('Please select a branch'),
    codexModel: modelName.nullable().optional(),
    agent: AgentName.default(defaultAgent),
  }),
  answer: success,
  faults: ['not_found'],
})
