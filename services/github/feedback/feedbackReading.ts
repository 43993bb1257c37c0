/** The data of one reading of a pull request's feedback, and how a piece of feedback is recorded. */
import { randomUUID } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import type { CommandOf } from '#domain/task/commands.ts'
import type { TaskEvent } from '#domain/task/events.ts'
import type { RepositoryRight } from '#domain/task/codeHost/feedbackEvents.ts'
import type { FeedbackRule } from '#domain/task/codeHost/feedbackRule.ts'
import type { LiveTask } from '#domain/task/state.ts'
import { task } from '#domain/task/task.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Engines } from '#platform/compose.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { Admit, Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import type { CodeHost, PullRequestReading } from '#platform/ports/codeHost.ts'
import { TooLarge } from '#platform/ports/faults.ts'
import { hasNoRoomYet, type Admission } from '#platform/commands/admission.ts'
import type { Redaction } from './feedbackRedaction.ts'
import type { ReadRequest } from '../pullRequests/readQueue.ts'

export interface FeedbackDeps extends Pick<Engines, 'projectSecrets' | 'vault' | 'clock' | 'logger'> {
  readonly codeHost: Pick<
    CodeHost,
    'pullRequestFeedback' | 'repositoryRight' | 'failedChecks' | 'checkAnnotations' | 'jobLog'
  >
  readonly commands: Pick<Commands, 'execute' | 'load'>
  readonly accessControl: Pick<AccessControl, 'check'>
  readonly admission: Admission
  /** The name of the code host to which the accounts belong. */
  readonly codeHostName: string
}

/** A pull request that was read without a fault. */
export type ReadPullRequest = Extract<PullRequestReading, { kind: 'read' }>

/** The memory of a feedback reader between two readings. */
export interface Reader extends FeedbackDeps {
  /** How many ms to wait for the rest of a review. */
  readonly gatherMs: number
  /** For each task, the state that its pull request had when everything on it was read. */
  readonly seen: LRUCache<string, string>
  /** Permissions that are known from earlier requests, by repository and account. `at` is the time of the request, in ms of the monotonic clock. */
  readonly rights: LRUCache<string, { readonly right: RepositoryRight; readonly at: number }>
  /** When a part of each review was first seen, in ms of the monotonic clock. */
  readonly waiting: LRUCache<string, number>
  /** For each task: whether a hint has come since the last reading, and when a hint last caused a reading. */
  readonly hints: LRUCache<string, { isNew: boolean; readAt: number }>
}

export interface Reading {
  readonly request: ReadRequest
  readonly token: string
  readonly pull: ReadPullRequest
  readonly rule: FeedbackRule
  readonly state: LiveTask
  /** When the reading began, in ms of the monotonic clock. */
  readonly begunAt: number
  /** Builds the redaction on the first call; later calls return the same. */
  readonly redaction: () => Promise<Redaction>
}

type Receive = CommandOf<'ReceiveFeedback'>
/** A piece of feedback, and how the project handles its kind. */
type Received = Pick<Receive, 'data' | 'content'> & { readonly mode: FeedbackRule['reviews'] }

/**
 * Records a piece of feedback, and starts the agent in the same append if the rule says so. The agent is not started, and people are asked instead,
 * if the owner has no room for another task, or if the piece had to be cut because it was too large for the log.
 */
export async function record(
  deps: FeedbackDeps,
  { request: { taskId }, pull, rule, state }: Reading,
  { data, content, mode }: Received,
): Promise<void> {
  const { commands, admission, clock, logger } = deps
  const admit: Admit<TaskEvent> = async (events) =>
    events.some(({ type }) => type === 'ExecutionRequested')
      ? admission.admit(state.ownerId)
      : () => undefined
  const receive = async (shown: Receive['content'], automatic: Receive['automatic']) => {
    const command: Receive = {
      type: 'ReceiveFeedback',
      feedbackId: randomUUID(),
      data,
      content: shown,
      automatic,
    }
    await commands.execute(task, taskStream(taskId), command, bySystem('follower'), admit)
  }
  const automatic =
    mode === 'automatic'
      ? {
          messageId: randomUUID(),
          executionId: randomUUID(),
          now: clock.now().toISOString(),
          isSameRepository: !pull.isFork,
          triesPerCommit: rule.triesPerCommit,
          triesPerDay: rule.triesPerDay,
        }
      : null
  try {
    await receive(content, automatic)
      .catch(async (fault: unknown) => {
        if (!hasNoRoomYet(fault)) throw fault
        await receive(content, null)
      })
      .catch(async (fault: unknown) => {
        if (!(fault instanceof TooLarge)) throw fault
        await receive(cutContent(content), null)
      })
  } catch (fault) {
    // A task that is deleted, or whose history is unreadable, does not stop the reading for the other tasks.
    if (!(fault instanceof Fault || fault instanceof UnreadableEvent)) throw fault
    if (!(fault instanceof Fault && fault.code === 'not_found'))
      logger.warn({ err: fault, taskId }, 'failed to record feedback on a pull request')
  }
}

/** The maximum number of characters in each part of a piece of feedback that was too large for the log. */
const small = { body: 4_000, comment: 600, hunk: 300, log: 8_000, annotation: 200 }

function cutContent(content: Receive['content']): Receive['content'] {
  const { body, comments, check } = content
  return {
    ...content,
    body: cut(body, small.body),
    // All comments are kept, though shortened, so that each is known by its id from now on.
    comments: comments.map((one) => ({
      ...one,
      body: cut(one.body, small.comment),
      hunk: one.hunk.slice(-small.hunk),
    })),
    check: check && {
      ...check,
      summary: cut(check.summary, small.body),
      annotations: check.annotations.map((one) => ({ ...one, message: cut(one.message, small.annotation) })),
      log: check.log && check.log.slice(-small.log),
      isLogCut: check.isLogCut || (check.log?.length ?? 0) > small.log,
    },
  }
}

/** The text, shortened to `length` characters if it is longer. A shortened text ends with `…`. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`
