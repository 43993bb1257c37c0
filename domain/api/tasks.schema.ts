/** Tasks: making them, running them, their pull request. */
import { z } from 'zod'
import { defaultAgent } from '../agents.ts'
import { Position } from '../kernel/event.schema.ts'
import { unreadableReasons } from '../kernel/event.ts'
import { ProjectId, TaskId } from '../kernel/ids.schema.ts'
import { AgentName, UnreadableCode } from '../task/events.ts'
import { workPlaces } from '../task/codeHost/cleanUpEvents.ts'
import { CheckCounts, ReviewDecision } from '../task/codeHost/feedbackEvents.ts'
import { defineRead, defineWrite } from './call.schema.ts'
import { branchOutcomes, workspaceOutcomes } from './cleanUp.ts'
import { attachedImages, ShownImage } from './images.schema.ts'
import { imageLimits } from './images.ts'
import {
  Cursor,
  branchName,
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

/** A pull request as the code host shows it. */
export const ShownPullRequest = z.object({
  /** `null` before it could be read for the first time. */
  state: z.enum(pullRequestStates).nullable(),
  /** The login of who merged it; `null` where nobody did by name. */
  mergedBy: z.string().nullable(),
  mergedAt: Moment.nullable(),
  /** Why the code host does not show it at the moment, so that `state` may be old; `null` while it does. */
  unreadable: UnreadableCode.nullable(),
  /** What its reviews and checks say, and of which commit; missing until that was read. */
  standing: z
    .object({
      /** `null` where no review is asked for. */
      review: ReviewDecision.nullable(),
      /** `null` where the commit has none, and where they cannot be read. */
      checks: CheckCounts.nullable(),
      /** `false` where the token that reads the pull request may not see its checks. */
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
  /** The model that the agent is asked to use. */
  codexModel: z.string().nullable(),
  /** The agent that this model was chosen for; another agent uses its own. */
  modelAgent: AgentName,
  images: z.array(z.object({ ...ShownImage.shape, uploadedAt: Moment })),
  /** The branch that its work is pushed on. */
  workingBranch: z.string().nullable(),
  /** Where git stands in its workspace, or the short id of a commit; `null` while nothing was recorded of it. */
  currentBranch: z.string().nullable(),
  prUrl: z.string().nullable(),
  prNumber: z.number().nullable(),
  owner: z.string(),
  createdAt: Moment,
  updatedAt: Moment,
  /** The execution that runs or ran last. */
  execution: z
    .object({
      id: z.string(),
      kind: z.enum(['turn', 'command']),
      /** Counts the turns and commands of the task. */
      turn: z.number(),
      requestedAt: Moment,
      startedAt: Moment.nullable(),
      endedAt: Moment.nullable(),
      steps: z.array(z.object({ step: z.enum(executionSteps), at: Moment })),
      cancelRequested: z.boolean(),
      /** How it ended; missing until then, and in what was recorded before it was kept. */
      outcome: z.enum(['completed', 'failed', 'cancelled']).optional(),
      /** What it has used of models; missing until something is recorded. */
      usage: z.object({ inputTokens: z.number(), outputTokens: z.number(), costUsd: z.number() }).optional(),
    })
    .nullable(),
  /** The turn of another task that this one was created from, with that task's title at the time. */
  forkedFrom: z
    .object({
      taskId: z.string(),
      executionId: z.string(),
      title: z.string(),
      /** Whether the agent resumes the conversation, or is given it as text. */
      resumes: z.boolean(),
    })
    .optional(),
  /** Tasks that were created from turns of this one. */
  forks: z.array(z.object({ taskId: z.string(), executionId: z.string(), title: z.string() })).optional(),
  /** The task that this one is an alternative to, with its title at the time. */
  original: z.object({ taskId: z.string(), title: z.string() }).optional(),
  /** Alternatives to this task. */
  alternatives: z.array(z.object({ taskId: z.string(), title: z.string() })).optional(),
  /** The issue at the code host that this task was made of. */
  issue: z.object({ number: z.number(), url: z.string() }).optional(),
  /** Turns and commands that were undone, by their executions. */
  undone: z.array(z.string()).optional(),
  /** The latest undo, until the task goes on: its id, and the turn or undo that it undid. */
  lastUndo: z.object({ id: z.string(), executionId: z.string() }).optional(),
  /**
   * The record is damaged: from which event of which stream on, and why. With `task` nothing can be added to it, and nothing of it runs. With
   * `terminal` it is the record of what was printed, and the task goes on. Missing where all of it can be read.
   */
  unreadable: z
    .object({
      stream: z.enum(['task', 'terminal']).optional(),
      revision: z.number(),
      reason: z.enum(unreadableReasons),
    })
    .optional(),
  /** Why the last turn failed, and until when the code host asked to wait, where it did. */
  failure: z.object({ code: z.string(), reason: z.string(), retryAt: Moment.optional() }).nullable(),
  usage: z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    costUsd: z.number(),
    model: z.string().nullable(),
  }),
  changes: z
    .object({ files: z.number(), additions: z.number(), deletions: z.number(), recordedAt: Moment })
    .nullable(),
  pullRequestPending: z.boolean(),
  /** By which fault its work was not published the last time; missing where it was, and while that is asked for again. */
  publishingFault: z.string().optional(),
  /** How the pull request stands at the code host; missing until that was read. */
  pullRequest: ShownPullRequest.optional(),
  /** Something ran since work was published in the pull request last: there may be work that is in no pull request. Missing otherwise. */
  laterWork: z.literal(true).optional(),
  /** What became of its branch and workspace in the last clean-up; missing before one, and again once the task goes on. */
  cleanUp: z
    .object({ at: Moment, branch: z.enum(branchOutcomes), workspace: z.enum(workspaceOutcomes) })
    .optional(),
  /**
   * How far the latest clean-up is: by which request, `null` once its outcome is told or no longer counts; where the work was when its removal
   * began; and whether the branch was gone. Missing before the first one.
   */
  cleaning: z
    .object({
      request: z.string().nullable(),
      work: z.enum(workPlaces).nullable(),
      isBranchGone: z.boolean(),
    })
    .optional(),
  /** Position of the task's creation: what it is sorted by. */
  position: Position,
  /** Revision of the task's stream up to which this is folded. */
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
  /** A repository of its own, which no pull request takes up. */
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
  /** The tree that this is the diff of, as git names it: what a pull request is made of. `null` while an agent writes, or against another base than the recorded one. */
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
    images: attachedImages(imageLimits.aTask).optional(),
    agent: AgentName.default(defaultAgent),
  }),
  status: 201,
  answer: taskAnswer,
  faults: ['not_found', 'already_exists', 'agent_unavailable'],
})

export const updateTask = defineWrite(taskRoutes.updateTask, {
  summary: 'Changes the title, description or model. A new model applies from the next turn.',
  params,
  body: z.object({
    title: required('A task needs a title.', titleLength).optional(),
    description: required('Please enter a task description', limits.descriptionLength).optional(),
    codexModel: modelName.nullable().optional(),
    /** The agent that the model is for; left out, the one that works on the task. */
    agent: AgentName.optional(),
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
      /** The command gets the secrets of the project only where this says so. */
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
  // A client that fills in nothing asks against the recorded branch.
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
    /** The first that was asked for, counted from 1. */
    from: z.number(),
    /** At most 500, and fewer than asked where they are long or the file ends; what of a line is beyond 2,000 characters is left out. */
    lines: z.array(z.string()),
    /** Lines of the whole file. */
    total: z.number(),
  },
  faults: ['not_found', 'not_initialized'],
})

export const getPullRequest = defineRead(taskRoutes.getPullRequest, {
  summary: 'The pull request, if there is one, with a suggested title and description.',
  params,
  answer: {
    pr: PullRequest.nullable(),
    /** Of the task, the whole diff and the chat; once there is a pull request, its words as they were sent last. */
    proposal: z.object({ title: z.string(), body: z.string() }),
    /** Whether each turn that goes well updates it. */
    autoUpdate: z.boolean(),
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
      /** Whether it is opened as a draft; `false` also marks one that is a draft as ready. */
      draft: z.boolean().optional(),
      /** Whether each turn that goes well shall update it from now on; left out, that stays as it is. */
      autoUpdate: z.boolean().optional(),
      /** Opens a new pull request in place of one that was merged or closed: without it, that is refused. */
      openNew: z.boolean().optional(),
      /** The `tree` of the diff that the person looked at, also where it was `null`: refused when other changes were recorded since. */
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
    'code_host_refused',
  ],
})

export const prepareTask = defineWrite(taskRoutes.prepareTask, {
  summary:
    'Prepares a workspace for a task that is created with the same id, branch and agent within a minute. It records nothing, is optional, and does nothing for an existing task.',
  params: z.object({ projectId: ProjectId }),
  body: z.object({
    /** The id that the task will be made with. */
    taskId: TaskId,
    branch: branchName('Please select a branch'),
    codexModel: modelName.nullable().optional(),
    agent: AgentName.default(defaultAgent),
  }),
  answer: success,
  faults: ['not_found'],
})
