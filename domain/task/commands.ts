/** The commands of people and runners on a task. They bring the ids of what they create. */
import type { Proposal } from './codeHost/proposal.ts'
import type { EventOf } from '../kernel/event.schema.ts'
import type { AgentName } from '../agents.ts'
import type { IssueOrigin } from './codeHost/issueState.ts'
import type { Snapshot } from './restorePoints.ts'
import type { BranchOutcome, WorkspaceOutcome } from '../api/cleanUp.ts'
import type { WorkPlace } from './codeHost/cleanUpEvents.ts'
import type { FeedbackReceived, PullRequestStandingObserved } from './codeHost/feedbackEvents.ts'
import type { WorkspaceSnapshotTaken } from './snapshotEvents.ts'
import type {
  ExecutionKind,
  MessageImage,
  ProgressEvent,
  PullRequestState,
  TerminalHead,
  UnreadableCode,
  WorkspaceChanged,
} from './events.ts'

/** One attempt of one execution: a report that names another is refused. */
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
      /** ISO 8601; until when the code host asked to wait. */
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
      /** Why the origin of the lines could not be published beside the commits. */
      readonly notesRefused?: string | null
    }
  /** With a message when nobody waits for the outcome. */
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly reason: string
      readonly messageId?: string | null
    }
  /** The pull request is no longer open: no turn updates it again. */
  | { readonly kind: 'closed'; readonly reason: string; readonly messageId: string }

/** What reviews and checks of a pull request say; `undefined` where they were not asked for. */
export type PullRequestStanding = EventOf<typeof PullRequestStandingObserved>['data']

/** What the code host says of a pull request. Times are ISO 8601. */
export interface ObservedPullRequest {
  readonly number: number
  readonly nodeId: string
  readonly repositoryId: string
  readonly state: PullRequestState
  readonly draft: boolean
  readonly headCommit: string
  readonly updatedAt: string
  readonly mergedAt: string | null
  /** A login. */
  readonly mergedBy: string | null
  readonly standing?: PullRequestStanding
}

type Received = EventOf<typeof FeedbackReceived>

/** What the project's rule has done with feedback at once, within the limits. */
export interface AutomaticTurn {
  readonly messageId: string
  readonly executionId: string
  /** ISO 8601. */
  readonly now: string
  /** Whether the head of the pull request is in the repository itself and not in a fork. */
  readonly isSameRepository: boolean
  readonly triesPerCommit: number
  readonly triesPerDay: number
}

/** An image of a message, with the name of its file. */
export interface NamedImage extends MessageImage {
  readonly name: string
}

/** A turn of another task, from which a task begins. */
export interface TurnOrigin {
  readonly taskId: string
  readonly executionId: string
  /** The other task's. */
  readonly title: string
  readonly transcript: string
  /** Copied under the key of the new task. */
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
      /** Of the first message, which is the description. */
      readonly images: readonly NamedImage[]
      /** The turn that the task begins from. Such a task may have a blank description: it then waits for a message. */
      readonly from?: TurnOrigin
      /** The original of the comparison that the task joins. */
      readonly comparedTo?: {
        readonly taskId: string
        readonly title: string
        readonly baseCommit: string | null
      }
      /** The issue that the task is made of. */
      readonly fromIssue?: IssueOrigin
    }
  | {
      readonly type: 'SettleIssueComment'
      readonly outcome:
        | {
            readonly kind: 'written'
            readonly commentId: string
            /** The revision of the task that the comment tells of. */
            readonly shows: number
          }
        | { readonly kind: 'failed'; readonly code: string; readonly reason: string }
    }
  | {
      readonly type: 'UpdateTask'
      readonly title?: string
      readonly description?: string
      /** What the agent uses from its next turn on; `null` names the task's current agent. */
      readonly model?: { readonly agent: AgentName | null; readonly name: string | null }
    }
  | { readonly type: 'DeleteTask' }
  | {
      readonly type: 'SendMessage'
      readonly messageId: string
      readonly kind: ExecutionKind
      readonly agent: AgentName | null
      /** May be blank where there are images. */
      readonly message: string
      readonly images: readonly NamedImage[]
      /** The execution that starts when the task is idle. */
      readonly executionId: string
      /** Sent to the running turn, if there is one that can take it. */
      readonly steers?: boolean
      /** A command is given the secrets of the project. */
      readonly withSecrets?: boolean
      /** Refused while something runs, instead of queued. */
      readonly runsNow?: boolean
    }
  /** Adds a note to the chat without starting a turn. */
  | { readonly type: 'PostNote'; readonly messageId: string; readonly message: string }
  | { readonly type: 'WithdrawMessage'; readonly messageId: string }
  | { readonly type: 'EditMessage'; readonly messageId: string; readonly message: string }
  /** Sends a queued message to the running turn. */
  | { readonly type: 'SteerMessage'; readonly messageId: string }
  /** Names every queued message, in the new order. */
  | { readonly type: 'ReorderQueue'; readonly messageIds: readonly string[] }
  | { readonly type: 'RequestExecution'; readonly executionId: string }
  | { readonly type: 'RetryTask'; readonly executionId: string }
  | { readonly type: 'CancelExecution' }
  | {
      readonly type: 'RequestPullRequest'
      readonly requestId: string
      readonly title: string | null
      readonly body: string | null
      readonly draft: boolean
      /** Whether each successful turn updates it from now on; `null` leaves that unchanged. */
      readonly autoUpdate: boolean | null
      /** The tree of the changes that the person saw, `null` if none was recorded, if they name it: refused when other changes were recorded since. */
      readonly tree?: string | null
      /** Title and body for when the person gave none; without it, those of the task. */
      readonly proposed?: Proposal | null
      /** Opens a new pull request in place of one that was merged or closed. */
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
  /** The agent has received a message that steers. */
  | { readonly type: 'DeliverSteering'; readonly fence: Fence; readonly messageId: string }
  | {
      readonly type: 'EndExecution'
      readonly fence: Fence
      readonly outcome: ExecutionOutcome
      readonly terminal: TerminalHead | null
      /** The id of the execution that delivers the next queued message, or else of the request that updates the pull request, or of the message that it no longer is. */
      readonly nextExecutionId: string
      /** Whether the project wants a draft of a pull request for what the turn changed. */
      readonly opensDraft?: boolean
    }
  /** The changes while the pull request is made: those that it publishes, or those for which it is refused. */
  | {
      readonly type: 'RecordChanges'
      readonly requestId: string
      readonly changes: EventOf<typeof WorkspaceChanged>
    }
  | {
      readonly type: 'SettlePullRequest'
      readonly requestId: string
      readonly outcome: PullRequestOutcome
      /** The feedback that was done when the work began to be published; all that is done now where it is left out. */
      readonly covers?: readonly string[]
      /** The id of the request that follows when a turn has ended meanwhile and the pull request must be updated. */
      readonly nextRequestId: string
    }
  | { readonly type: 'ObservePullRequest'; readonly observed: ObservedPullRequest }
  /** Something on the pull request that may be new. `automatic` is `null` where the project's rule leaves it to a person. */
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
      /** As it was received; `null` where it can no longer be read. */
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
  /** An answer that the code host did not take is to be given once more, with the commit that it was to name. */
  | { readonly type: 'AnswerFeedback'; readonly feedbackId: string; readonly commit: string | null }
  /** The owner's access is back: an update that failed for want of it is tried once more. */
  | { readonly type: 'RetryUpdate'; readonly requestId: string }
  /** The pull request is to become a draft, or ready for review. */
  | { readonly type: 'RequestDraft'; readonly draft: boolean }
  /** The branch and the workspace are to be removed, as the pull request is over. */
  | { readonly type: 'RequestCleanUp'; readonly requestId: string }
  | {
      readonly type: 'SettleCleanUp'
      readonly requestId: string
      readonly branch: BranchOutcome
      readonly workspace: WorkspaceOutcome
    }
  /** Its runner is about to remove the workspace. */
  | { readonly type: 'BeginCleanUp'; readonly work: WorkPlace }
  /** The code host does not show the pull request of this number. */
  | { readonly type: 'MissPullRequest'; readonly number: number; readonly code: UnreadableCode }

  /** `taskId` was created from this turn. */
  | {
      readonly type: 'RecordFork'
      readonly taskId: string
      readonly executionId: string
      readonly title: string
    }
  /** `taskId` is about to be created as an alternative to this task. */
  | {
      readonly type: 'AddAlternative'
      readonly taskId: string
      readonly title: string
      /** Alternatives that were deleted: they take no place. A deleted task never comes back, so the list is never wrong, only short. */
      readonly deleted: readonly string[]
    }
  /** `taskId` exists as an alternative to this task. */
  | { readonly type: 'RecordAlternative'; readonly taskId: string; readonly title: string }
  /** `taskId` was not created. */
  | { readonly type: 'RemoveAlternative'; readonly taskId: string }
  /** Goes back to what the task was before a turn, a command or an earlier undo. */
  | { readonly type: 'UndoTurn'; readonly undoId: string; readonly executionId: string }
  /** The snapshot that the turn before an undo has not left. */
  | {
      readonly type: 'RecordSnapshot'
      readonly undoId: string
      readonly snapshot: EventOf<typeof WorkspaceSnapshotTaken>
    }
  /** The files are as the undo, or the turn that the task was created from, wants them. */
  | {
      readonly type: 'RecordRestore'
      readonly executionId: string
      /** Files that git ignores now, and that were left as they are. */
      readonly keptPaths: readonly string[]
      readonly changes: EventOf<typeof WorkspaceChanged> | null
    }

/** The command of this type. */
export type CommandOf<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>
