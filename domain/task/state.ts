/** The state of a task, with only the fields that decisions need. */
import type { AgentName } from '../agents.ts'
import type { TaskArtifacts } from './artifactState.ts'
import type { TaskCleanUp } from './codeHost/cleanUpState.ts'
import type { TaskFeedback } from './codeHost/feedbackState.ts'
import type { TaskIssue } from './codeHost/issueState.ts'
import type { TaskQuestions } from './questionState.ts'
import type { TaskPullRequest } from './codeHost/pullRequestState.ts'
import type { Phase, QueuedMessage } from './phase.ts'
import type { RestorePoints, Snapshot } from './restorePoints.ts'

/** The model and effort requested for an agent; `null` leaves the choice to the agent. */
export interface ModelChoice {
  readonly agent: AgentName
  readonly name: string | null
  readonly effort: string | null
}

export interface LiveTask {
  readonly kind: 'task'
  readonly taskId: string
  readonly ownerId: string
  readonly projectId: string
  readonly agent: AgentName
  readonly title: string
  readonly description: string
  readonly model: ModelChoice
  readonly phase: Phase
  /** The messages that are not delivered yet, in the order in which they will run. Commands for the shell are among them. */
  readonly queue: readonly QueuedMessage[]
  /** The ids of queued messages that are being sent to the running turn. */
  readonly steering: readonly string[]
  /** The ids of messages whose execution has started, that were sent to a running turn, or whose execution was cancelled before its start. */
  readonly delivered: ReadonlySet<string>
  /** The message of the last requested turn, which a retry runs again; `null` before the first turn. */
  readonly lastTurn: QueuedMessage | null
  readonly workspace: 'none' | 'preparing' | 'ready'
  /** The runner that ran the task last. If the task has a workspace, this runner has it. */
  readonly lastRunnerId: string | null
  /** The agent's session, which the next turn resumes if it runs the same agent; `null` when a new session must begin. */
  readonly session: { readonly agent: AgentName; readonly sessionId: string } | null
  /** The last snapshot of files and session, or the snapshot to which an undo goes back; `null` when there is none. */
  readonly saved: Snapshot | null
  readonly restorePoints: RestorePoints
  /** The turn of another task from which this task was created; `null` for most tasks. */
  readonly origin: {
    readonly taskId: string
    readonly executionId: string
    readonly snapshot: Snapshot
    readonly transcript: string
  } | null
  /** The commit from which the working branch starts; `null` as long as it is not known, and in an empty repository. */
  readonly baseCommit: string | null
  /** The id of the task to which this task is an alternative; `null` for other tasks. */
  readonly original: string | null
  /** The ids of the alternatives to this task, including deleted ones. */
  readonly alternatives: readonly string[]
  /** The ids of the tasks that were created from turns of this task. */
  readonly forks: readonly string[]
  /** Set while the files must still be restored from `saved`: after an undo, and after the task was created from a turn of another task. */
  readonly pendingRestore: { readonly executionId: string; readonly reason: 'fork' | 'undo' } | null
  /** The ids of tool calls that have not finished. The end of the execution ends them too. */
  readonly openTools: ReadonlySet<string>
  /** The number of files that differ from the merge base, as last recorded. */
  readonly changedFiles: number
  /** The git tree with the task's changes, from which a pull request is made; `null` when unknown, for example while an agent is writing. */
  readonly changedTree: string | null
  /** The value of `changedTree` when the last execution was requested; `null` when it was unknown. */
  readonly treeBefore: string | null
  readonly pullRequest: TaskPullRequest | null
  /** The id of the request for a publication that has no outcome yet. */
  readonly pullRequestRequest: string | null
  /** What that request asks for; `null` without such a request. */
  readonly requestedPullRequest: {
    readonly title: string
    readonly body: string
    readonly draft: boolean
  } | null
  /** Whether the last publication failed because the owner was not connected to the code host. */
  readonly lostAccess: boolean
  /** Whether successful turns update the pull request. */
  readonly autoUpdate: boolean
  /** Whether the work of an ended turn must still be published. */
  readonly updateOwed: boolean
  readonly feedback: TaskFeedback
  /** The issue from which the task was created, and the comment about the task. */
  readonly issue: TaskIssue | null
  readonly cleanUp: TaskCleanUp
  readonly questions: TaskQuestions
  readonly artifacts: TaskArtifacts
}

export type TaskState =
  | { readonly kind: 'none' }
  | LiveTask
  | { readonly kind: 'deleted'; readonly ownerId: string }
