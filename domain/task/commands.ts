/** The commands of people and runners for a task. A command contains the ids of what it creates. */
import type { Proposal } from './codeHost/proposal.ts'
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
  ProgressEvent,
  PullRequestObserved,
  TerminalHead,
  UnreadableCode,
  WorkspaceChanged,
} from './events.ts'

/** One attempt of one execution: a report for another attempt is refused. */
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
      /** The time until which the code host asked to wait, in the format of ISO 8601. */
      readonly retryAt?: string
    }
  | { readonly kind: 'cancelled' }

export type PullRequestOutcome =
  | {
      readonly kind: 'opened' | 'updated'
      readonly number: number
      readonly url: string
      readonly headCommit: string
      /** The id of the system message for the chat; `null` when there is nothing new to say. */
      readonly messageId: string | null
      /** Why the provenance notes could not be published with the commits. */
      readonly notesRefused?: string | null
    }
  /** Has the id of a chat message when nobody waits for the outcome. */
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly reason: string
      readonly messageId?: string | null
    }
  /** The pull request is no longer open, so no turn updates it again. */
  | { readonly kind: 'closed'; readonly reason: string; readonly messageId: string }

/** The result of a pull request's reviews and checks; `undefined` when it was not queried. */
export type PullRequestStanding = EventOf<typeof PullRequestStandingObserved>['data']

type Observed = EventOf<typeof PullRequestObserved>

/** What the code host reports about a pull request. Times are in the format of ISO 8601. */
export type ObservedPullRequest = Readonly<Observed['data'] & Observed['content']> & {
  readonly standing?: PullRequestStanding
}

type Received = EventOf<typeof FeedbackReceived>

/** What the project's rule needs to send feedback at once, with its limits. */
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
  /** A copy of the snapshot under the key of the new task. */
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
      readonly title: string
      readonly description: string
      readonly branch: string
      readonly messageId: string
      readonly executionId: string
      /** The images of the first message, which is the description. */
      readonly images: readonly NamedImage[]
      /** The turn from which the task starts. Such a task may have a blank description: it then waits for a message. */
      readonly from?: TurnOrigin
      /** How freely the task's agent works; `free` when missing. */
      readonly mode?: AgentMode
      /** The original of the comparison that the task joins. */
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
      /** What the agent uses from its next turn on; a `null` agent means the task's current one. */
      readonly model?: { readonly agent: AgentName | null; readonly name: string | null }
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
      /** Whether the message is sent to the running turn, if there is one that can take it. */
      readonly steers?: boolean
      readonly withSecrets?: boolean
      /** Whether the message is refused while something runs, instead of being queued. */
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
  /** Names every queued message, in the new order. */
  | { readonly type: 'ReorderQueue'; readonly messageIds: readonly string[] }
  | {
      readonly type: 'AnswerQuestion'
      readonly questionId: string
      readonly answer: Answer
      readonly answeredBy: string
      /** The id of the message that starts the next turn if no agent waits; it contains all answers since the run that asked. */
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
      readonly draft: boolean
      /** Whether each successful turn updates the pull request from now on; `null` leaves that unchanged. */
      readonly autoUpdate: boolean | null
      /**
       * The tree of the changes that the person saw; `null` if none was recorded. When given, the request is refused if other changes were recorded
       * since.
       */
      readonly tree?: string | null
      /** The title and body to use when the person gave none; if missing, those of the task. */
      readonly proposed?: Proposal | null
      /** Opens a new pull request to replace one that was merged or closed. */
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
       * The id of whatever comes next: the execution that delivers the next queued message, the request that updates the pull request, or the message
       * that it is no longer open.
       */
      readonly nextExecutionId: string
      /** Whether the project opens draft pull requests for what a turn changed. */
      readonly opensDraft?: boolean
    }
  /** The changes at the time of publication: those that are published, or those whose publication is refused. */
  | {
      readonly type: 'RecordChanges'
      readonly requestId: string
      readonly changes: EventOf<typeof WorkspaceChanged>
    }
  | {
      readonly type: 'SettlePullRequest'
      readonly requestId: string
      readonly outcome: PullRequestOutcome
      /** The feedback that was done when the publication began; if missing, all feedback that is done now. */
      readonly covers?: readonly string[]
      /** The id of the follow-up request, for a turn that ended during the publication and whose work must still be published. */
      readonly nextRequestId: string
    }
  | { readonly type: 'ObservePullRequest'; readonly observed: ObservedPullRequest }
  /** Feedback on the pull request that may be new. `automatic` is `null` when the project's rule leaves it to a person. */
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
      /** The content as it was received; `null` when it can no longer be read. */
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
  /** Retries a reply that the code host refused, with the commit to which the reply refers. */
  | { readonly type: 'AnswerFeedback'; readonly feedbackId: string; readonly commit: string | null }
  /** The owner is connected again: retries an update that failed because the owner was not connected. */
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
  /** The code host did not show the pull request with this number. */
  | { readonly type: 'MissPullRequest'; readonly number: number; readonly code: UnreadableCode }

  /** The task `taskId` was created from this turn. */
  | {
      readonly type: 'RecordFork'
      readonly taskId: string
      readonly executionId: string
      readonly title: string
    }
  /** The task `taskId` is about to be created as an alternative to this task. */
  | {
      readonly type: 'AddAlternative'
      readonly taskId: string
      readonly title: string
      /** Deleted alternatives, which take up no place. A deleted task never comes back, so the list may be incomplete but never wrong. */
      readonly deleted: readonly string[]
    }
  /** The task `taskId` was created as an alternative to this task. */
  | { readonly type: 'RecordAlternative'; readonly taskId: string; readonly title: string }
  /** The task `taskId` could not be created. */
  | { readonly type: 'RemoveAlternative'; readonly taskId: string }
  /** Goes back to the state before a turn, a command or an earlier undo. */
  | { readonly type: 'UndoTurn'; readonly undoId: string; readonly executionId: string }
  /** The snapshot of the turn before an undo, taken later because that turn left none. */
  | {
      readonly type: 'RecordSnapshot'
      readonly undoId: string
      readonly snapshot: EventOf<typeof WorkspaceSnapshotTaken>
    }
  /** The files now match the snapshot of the undo, or of the turn that the task was created from. */
  | {
      readonly type: 'RecordRestore'
      readonly executionId: string
      /** Files that git now ignores and that were left unchanged. */
      readonly keptPaths: readonly string[]
      readonly changes: EventOf<typeof WorkspaceChanged> | null
    }

export type CommandOf<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>
