/** The commands that people, runners and other services can give a task. A command that creates something contains the id for it. */
import type { Proposal } from './codeHost/pullRequestProposal.ts'
import type { EventOf } from '../kernel/event.schema.ts'
import type { AgentName } from '../agents.ts'
import type { IssueOrigin } from './codeHost/issueState.ts'
import type { Snapshot } from './restorePoints.ts'
import type { BranchOutcome, WorkspaceOutcome } from '../api/cleanUp.ts'
import type { WorkPlace } from './codeHost/cleanUpEvents.ts'
import type { FeedbackReceived, PullRequestStandingObserved } from './codeHost/feedbackEvents.ts'
import type { AgentMode, Answer } from './questionEvents.ts'
import type { WorkspaceSnapshotTaken } from './snapshotEvents.ts'
import type {
  ExecutionKind,
  MessageImage,
  MessagePosted,
  ProgressEvent,
  PullRequestObserved,
  TerminalHead,
  UnreadableCode,
  WorkspaceChanged,
} from './events.ts'

/** The attempt from which a report about an execution comes. Only reports of the current attempt are accepted. */
export interface Fence {
  readonly executionId: string
  readonly attempt: number
}

export type ExecutionOutcome =
  | { readonly kind: 'completed'; readonly exitCode: number | null }
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly reason: string
      readonly exitCode: number | null
      /** Until when the code host asked to wait, in ISO 8601. */
      readonly retryAt?: string
    }
  | { readonly kind: 'cancelled' }

export type PullRequestOutcome =
  | {
      readonly kind: 'opened' | 'updated'
      readonly number: number
      readonly url: string
      readonly headCommit: string
      /** The id for a system message in the chat; `null` when no message is needed. */
      readonly messageId: string | null
      /** Why the provenance notes could not be published with the commits. */
      readonly notesRefused?: string | null
    }
  /** `messageId` is set when no person waits for the outcome: the chat then gets a message about the failure. */
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly reason: string
      readonly messageId?: string | null
    }
  /** The pull request is no longer open, and turns no longer update it. */
  | { readonly kind: 'closed'; readonly reason: string; readonly messageId: string }

/** The result of a pull request's reviews and checks. */
export type PullRequestStanding = EventOf<typeof PullRequestStandingObserved>['data']

type Observed = EventOf<typeof PullRequestObserved>

/** A report of the code host about a pull request. Times are in the format of ISO 8601. */
export type ObservedPullRequest = Readonly<Observed['data'] & Observed['content']> & {
  readonly standing?: PullRequestStanding
}

type Received = EventOf<typeof FeedbackReceived>

/** The values with which feedback is sent to the agent at once, if the project's rule and the limits allow this. */
export interface AutomaticTurn {
  readonly messageId: string
  readonly executionId: string
  /** The current time in the format of ISO 8601. */
  readonly now: string
  /** Whether the head branch is in the repository itself and not in a fork. */
  readonly isSameRepository: boolean
  readonly triesPerCommit: number
  readonly triesPerDay: number
}

export interface NamedImage extends MessageImage {
  readonly name: string
}

export interface TurnOrigin {
  readonly taskId: string
  readonly executionId: string
  readonly title: string
  readonly transcript: string
  /** The snapshot from the end of the turn, copied and encrypted with the new task's key. */
  readonly snapshot: Snapshot
}

export type TaskCommand =
  | {
      readonly type: 'CreateTask'
      readonly taskId: string
      readonly ownerId: string
      readonly projectId: string
      readonly agent: AgentName
      readonly codexModel: string | null
      readonly effort?: string | null
      readonly title: string
      readonly description: string
      readonly branch: string
      readonly messageId: string
      readonly executionId: string
      /** The images of the first message, whose text is the description. */
      readonly images: readonly NamedImage[]
      /** The turn of another task from which the new task starts. With a blank description, the new task waits for a message. */
      readonly from?: TurnOrigin
      /** How freely the task's agent works; `free` when missing. */
      readonly mode?: AgentMode
      /** The task to which the new task is an alternative. */
      readonly comparedTo?: {
        readonly taskId: string
        readonly title: string
        readonly baseCommit: string | null
      }
      readonly fromIssue?: IssueOrigin
      /** Whether the description begins with a command of the repository or the person. */
      readonly isOwnCommand?: boolean
    }
  | {
      readonly type: 'SettleIssueComment'
      readonly outcome:
        | {
            readonly kind: 'written'
            readonly commentId: string
            readonly shows: number
          }
        | { readonly kind: 'failed'; readonly code: string; readonly reason: string }
    }
  | {
      readonly type: 'UpdateTask'
      readonly title?: string
      readonly description?: string
      /** The model and effort for the next turns. An absent one stays as chosen for this agent. A `null` agent means the task's current agent. */
      readonly model?: {
        readonly agent: AgentName | null
        readonly name?: string | null
        readonly effort?: string | null
      }
      readonly mode?: AgentMode
    }
  | { readonly type: 'DeleteTask' }
  | {
      readonly type: 'SendMessage'
      readonly messageId: string
      readonly kind: ExecutionKind
      readonly agent: AgentName | null
      /** The text of the message, which may be blank when there are images. */
      readonly message: string
      readonly images: readonly NamedImage[]
      /** The id of the execution that starts if the task is idle. */
      readonly executionId: string
      /** Whether to send the message to the running turn, if a turn is running that can take it. */
      readonly steers?: boolean
      readonly withSecrets?: boolean
      /** Whether to refuse the message while something runs, instead of queueing it. */
      readonly runsNow?: boolean
      /** Whether the message begins with a command of the repository or the person. */
      readonly isOwnCommand?: boolean
    }
  /** Adds a note to the chat without starting a turn. */
  | { readonly type: 'PostNote'; readonly messageId: string; readonly message: string }
  | { readonly type: 'WithdrawMessage'; readonly messageId: string }
  | {
      readonly type: 'EditMessage'
      readonly messageId: string
      readonly message: string
      /** Whether the message begins with a command of the repository or the person. */
      readonly isOwnCommand?: boolean
    }
  | { readonly type: 'SteerMessage'; readonly messageId: string }
  /** Lists every queued message that is not on its way to a runner yet, in the new order. */
  | { readonly type: 'ReorderQueue'; readonly messageIds: readonly string[] }
  | {
      readonly type: 'AnswerQuestion'
      readonly questionId: string
      readonly answer: Answer
      readonly answeredBy: string
      /** The id of the message that starts the next turn if no agent waits for the answer. `message` is its text. */
      readonly messageId: string
      readonly message: string
      readonly executionId: string
    }
  | { readonly type: 'RequestExecution'; readonly executionId: string }
  | { readonly type: 'RetryTask'; readonly executionId: string }
  | { readonly type: 'CancelExecution' }
  | {
      readonly type: 'RequestPullRequest'
      readonly requestId: string
      readonly title: string | null
      readonly body: string | null
      /** Whether a new pull request is a draft; with `null`, it is none. */
      readonly draft: boolean | null
      /** Whether each successful turn updates the pull request from now on; with `null`, the current choice stays. */
      readonly autoUpdate: boolean | null
      /**
       * The tree of the changes that the person saw; `null` if none was recorded. If given, the request is refused when other changes were recorded
       * since then.
       */
      readonly tree?: string | null
      /** The title and body to use if the person gave none. If missing, the task's title and description are used. */
      readonly proposed?: Proposal | null
      /** Whether to open a new pull request if the task's last pull request was merged or closed. */
      readonly opensNew?: boolean
    }
  | {
      readonly type: 'StartExecution'
      readonly executionId: string
      /** The attempt that the runner saw; 0 when no runner had claimed the execution. */
      readonly afterAttempt: number
      readonly runnerId: string
    }
  | { readonly type: 'RecordProgress'; readonly fence: Fence; readonly progress: readonly ProgressEvent[] }
  | { readonly type: 'DeliverSteering'; readonly fence: Fence; readonly messageId: string }
  | {
      readonly type: 'EndExecution'
      readonly fence: Fence
      readonly outcome: ExecutionOutcome
      readonly terminal: TerminalHead | null
      /**
       * The id for what comes next: the execution of the next queued message, a request to open or update the pull request, or a chat message that
       * says that the pull request is no longer open.
       */
      readonly nextExecutionId: string
      /** Whether the project opens a draft pull request after a turn that changed something. */
      readonly opensDraft?: boolean
      /** A chat message that is posted with the end; `null` for none. */
      readonly message?: EventOf<typeof MessagePosted> | null
    }
  /** Records the task's changes at the time of a publication, whether or not they are then published. */
  | {
      readonly type: 'RecordChanges'
      readonly requestId: string
      readonly changes: EventOf<typeof WorkspaceChanged>
    }
  | {
      readonly type: 'SettlePullRequest'
      readonly requestId: string
      readonly outcome: PullRequestOutcome
      /** The ids of the feedback whose work was complete when the publication began. If missing, all feedback counts whose work is complete now. */
      readonly covers?: readonly string[]
      /** The id for another request, in case a turn ended during the publication: the work of this turn must still be published. */
      readonly nextRequestId: string
    }
  | { readonly type: 'ObservePullRequest'; readonly observed: ObservedPullRequest }
  /** Records feedback on the pull request, if it is new. `automatic` is `null` when the project's rule leaves the feedback to a person. */
  | {
      readonly type: 'ReceiveFeedback'
      readonly feedbackId: string
      readonly data: Omit<Received['data'], 'feedbackId'>
      readonly content: Received['content']
      readonly automatic: AutomaticTurn | null
    }
  | {
      readonly type: 'SendFeedback'
      readonly feedbackId: string
      readonly messageId: string
      readonly executionId: string
      readonly message: string
      /** The feedback as it was received; `null` when it can no longer be read. */
      readonly content: Received['content'] | null
      readonly right: Received['data']['right']
    }
  | { readonly type: 'DismissFeedback'; readonly feedbackId: string }
  | { readonly type: 'RestoreFeedback'; readonly feedbackId: string }
  | {
      readonly type: 'SettleFeedback'
      readonly feedbackId: string
      readonly outcome:
        | { readonly kind: 'answered'; readonly replyIds: readonly string[] }
        | { readonly kind: 'failed'; readonly code: string; readonly reason: string }
        | { readonly kind: 'resolved'; readonly automatic: boolean }
    }
  /** Repeats a reply that the code host refused. `commit` is the commit that the reply names. */
  | { readonly type: 'AnswerFeedback'; readonly feedbackId: string; readonly commit: string | null }
  /** Retries an update that failed because the owner was not connected to the code host. It is sent once the owner is connected again. */
  | { readonly type: 'RetryUpdate'; readonly requestId: string }
  | { readonly type: 'RequestDraft'; readonly draft: boolean }
  | { readonly type: 'RequestCleanUp'; readonly requestId: string }
  | {
      readonly type: 'SettleCleanUp'
      readonly requestId: string
      readonly branch: BranchOutcome
      readonly workspace: WorkspaceOutcome
    }
  | { readonly type: 'BeginCleanUp'; readonly work: WorkPlace }
  /** Records that the code host does not show the pull request with this number. */
  | { readonly type: 'MissPullRequest'; readonly number: number; readonly code: UnreadableCode }

  /** Records that the task `taskId` was created from the turn `executionId`. */
  | {
      readonly type: 'RecordFork'
      readonly taskId: string
      readonly executionId: string
      readonly title: string
    }
  /** Reserves a place for the task `taskId`, which will be created as an alternative to this task. */
  | {
      readonly type: 'AddAlternative'
      readonly taskId: string
      readonly title: string
      /** The ids of deleted alternatives, which do not count towards the limit. The list may lack alternatives that were just deleted. */
      readonly deleted: readonly string[]
    }
  /** Records that the task `taskId` was created as an alternative to this task. */
  | { readonly type: 'RecordAlternative'; readonly taskId: string; readonly title: string }
  /** Frees the place of the alternative `taskId`, whose creation failed. */
  | { readonly type: 'RemoveAlternative'; readonly taskId: string }
  | { readonly type: 'OpenShell'; readonly shellId: string }
  /** Returns to the state before a turn, a command or an earlier undo. */
  | { readonly type: 'UndoTurn'; readonly undoId: string; readonly executionId: string }
  /** Records a snapshot of the files before the undo `undoId` replaces them, because the turn before the undo left no snapshot. */
  | {
      readonly type: 'RecordSnapshot'
      readonly undoId: string
      readonly snapshot: EventOf<typeof WorkspaceSnapshotTaken>
    }
  /** Records that the files now match a snapshot. `executionId` is the undo that restored it, or the turn from which the task was created. */
  | {
      readonly type: 'RecordRestore'
      readonly executionId: string
      /** The files that the restore left unchanged because git now ignores them. */
      readonly keptPaths: readonly string[]
      readonly changes: EventOf<typeof WorkspaceChanged> | null
    }

export type CommandOf<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>
