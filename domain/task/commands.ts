/** What people and runners may ask of a task. Ids come in with the command. */
import type { Proposal } from './proposal.ts'
import type { EventOf } from '../kernel/event.schema.ts'
import type { AgentName } from '../agents.ts'
import type { ExecutionKind, MessageImage, ProgressEvent, TerminalHead, WorkspaceChanged } from './events.ts'

/** Names one attempt of one execution: a report that names another is refused. */
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
    }
  | { readonly kind: 'cancelled' }

export type PullRequestOutcome =
  | {
      readonly kind: 'opened' | 'updated'
      readonly number: number
      readonly url: string
      readonly headCommit: string
      /** The id of the system message that tells the chat; `null` where there is nothing new to tell. */
      readonly messageId: string | null
    }
  /** With a message where nobody waits for the outcome. */
  | {
      readonly kind: 'failed'
      readonly code: string
      readonly reason: string
      readonly messageId?: string | null
    }
  /** The pull request that was to be updated by itself is open no more: no turn updates it again. */
  | { readonly kind: 'closed'; readonly reason: string; readonly messageId: string }

/** An image on its way into a message, with the name that its file had. */
export interface NamedImage extends MessageImage {
  readonly name: string
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
    }
  | {
      readonly type: 'UpdateTask'
      readonly title?: string
      readonly description?: string
      /** What an agent uses from its next turn on; without an agent, the one that works on the task. */
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
      /** Given to the turn that runs, if one does that can take it. */
      readonly steers?: boolean
      /** A command is given the secrets of the project. */
      readonly withSecrets?: boolean
      /** Refused while something runs, rather than kept for later. */
      readonly runsNow?: boolean
    }
  /** A note for the chat that starts no turn. */
  | { readonly type: 'PostNote'; readonly messageId: string; readonly message: string }
  | { readonly type: 'WithdrawMessage'; readonly messageId: string }
  | { readonly type: 'EditMessage'; readonly messageId: string; readonly message: string }
  /** Gives a message that waits to the turn that runs. */
  | { readonly type: 'SteerMessage'; readonly messageId: string }
  /** Names every message that waits, in the order in which they shall go. */
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
      /** Whether each turn that goes well shall update it from now on; `null` leaves it as it is. */
      readonly autoUpdate: boolean | null
      /** The tree of the changes that the person looked at, where they say it: refused when others were recorded since. */
      readonly tree?: string | null
      /** The words where the person gave none; those of the task without it. */
      readonly proposed?: Proposal | null
    }
  | {
      readonly type: 'StartExecution'
      readonly executionId: string
      /** The attempt that the runner saw; 0 when nobody had claimed it. */
      readonly afterAttempt: number
      readonly runnerId: string
    }
  | { readonly type: 'RecordProgress'; readonly fence: Fence; readonly progress: readonly ProgressEvent[] }
  /** The agent was told a message that steers. */
  | { readonly type: 'DeliverSteering'; readonly fence: Fence; readonly messageId: string }
  | {
      readonly type: 'EndExecution'
      readonly fence: Fence
      readonly outcome: ExecutionOutcome
      readonly terminal: TerminalHead | null
      /** The execution that delivers the next queued message, when there is one; else the request that updates the pull request, when it shall be. */
      readonly nextExecutionId: string
    }
  /** The changes as they are while the pull request is made: those that it publishes, or those for which it is refused. */
  | {
      readonly type: 'RecordChanges'
      readonly requestId: string
      readonly changes: EventOf<typeof WorkspaceChanged>
    }
  | {
      readonly type: 'SettlePullRequest'
      readonly requestId: string
      readonly outcome: PullRequestOutcome
      /** The request that follows, where a turn ended meanwhile and the pull request shall be updated. */
      readonly nextRequestId: string
    }

/** The command of this type. */
export type CommandOf<Type extends TaskCommand['type']> = Extract<TaskCommand, { type: Type }>
