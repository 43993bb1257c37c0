/** The state of one reading of the feedback on a pull request, and how a piece of feedback is recorded. */
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
  /** The code host whose accounts these are. */
  readonly codeHostName: string
}

/** A pull request that could be read. */
export type ReadPullRequest = Extract<PullRequestReading, { kind: 'read' }>

/** The state that a reader of feedback keeps between two readings. */
export interface Reader extends FeedbackDeps {
  /** How long a review is awaited to be whole, in ms. */
  readonly gatherMs: number
  /** For each task: the state of its pull request when everything on it had been read. */
  readonly seen: LRUCache<string, string>
  /** The rights by repository and account; `at` is in milliseconds of the monotonic clock. */
  readonly rights: LRUCache<string, { readonly right: RepositoryRight; readonly at: number }>
  /** When a piece that waits was first seen. */
  readonly waiting: LRUCache<string, number>
  /** For each task: whether there was a hint since the last reading, and when a hint last caused one. */
  readonly hints: LRUCache<string, { isNew: boolean; readAt: number }>
}

export interface Reading {
  readonly request: ReadRequest
  readonly token: string
  readonly pull: ReadPullRequest
  readonly rule: FeedbackRule
  readonly state: LiveTask
  /** When the reading began, in milliseconds of the monotonic clock. */
  readonly begunAt: number
  /** The redaction, which is built once per reading, when it is first needed. */
  readonly redaction: () => Promise<Redaction>
}

type Receive = CommandOf<'ReceiveFeedback'>
/** A piece of feedback, and how the project handles its kind. */
type Received = Pick<Receive, 'data' | 'content'> & { readonly mode: FeedbackRule['reviews'] }

/**
 * Records a piece, and starts the agent in the same append if the rule says so. If the owner has no room for another task, or the piece is too large
 * for the log and has to be cut, the agent is not started and the decision is left to people.
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
    // A task that was deleted, or whose history cannot be read, delays no other.
    if (!(fault instanceof Fault || fault instanceof UnreadableEvent)) throw fault
    if (!(fault instanceof Fault && fault.code === 'not_found'))
      logger.warn({ err: fault, taskId }, 'failed to record feedback on a pull request')
  }
}

/** Characters of a piece that is too large for the log. */
const small = { body: 4_000, comment: 600, hunk: 300, log: 8_000, annotation: 200 }

function cutContent(content: Receive['content']): Receive['content'] {
  const { body, comments, check } = content
  return {
    ...content,
    body: cut(body, small.body),
    // All comments are kept, because each is known by its id from then on.
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

/** At most `length` characters of a text, marked if the text was longer. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`
