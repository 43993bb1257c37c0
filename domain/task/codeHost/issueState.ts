/** Events and state about a task's issue, and about our comment that links to the task. The code host's ids and names are content. */
import { event, fact, type EventOf } from '../../kernel/event.schema.ts'
import type { RecordedOf } from '../../kernel/event.ts'
import { z } from 'zod'
import { issueTriggers } from '../../project/issueRule.ts'
import { RepositoryRight } from './feedbackEvents.ts'

/**
 * The project's rule created the task from an issue. The event records the author of the request, and the author's permission at that time.
 * Flightdeck then comments on the issue.
 */
export const TaskCreatedFromIssue = event('TaskCreatedFromIssue', 1, {
  data: z.object({ trigger: z.enum(issueTriggers), right: RepositoryRight }),
  content: z.object({
    repositoryId: z.string(),
    issueId: z.string(),
    number: z.int(),
    url: z.string(),
    title: z.string(),
    author: z.object({ id: z.string(), login: z.string() }),
    /** The id of the comment that requested the task; `null` when the request was not a comment. */
    commentId: z.string().nullable(),
    /** The SHA-256 of the text that the agent got from the issue and the comment. */
    textHash: z.string(),
  }),
})
/**
 * The comment that links to the task was written: on the issue or, for a task without an issue, on the pull request. The code host treats both as
 * comments on an issue.
 */
export const IssueCommented = event('IssueCommented', 1, {
  data: z.object({}),
  content: z.object({ commentId: z.string() }),
})
/** The comment at the code host now shows the progress up to this revision of the task's stream. */
export const IssueCommentUpdated = fact('IssueCommentUpdated', { shows: z.int() })
/** The code host refused the comment that links to the task. */
export const IssueCommentFailed = event('IssueCommentFailed', 1, {
  data: z.object({ code: z.string() }),
  content: z.object({ reason: z.string() }),
})

export const issueEvents = [
  TaskCreatedFromIssue,
  IssueCommented,
  IssueCommentUpdated,
  IssueCommentFailed,
] as const

type FromIssue = EventOf<typeof TaskCreatedFromIssue>

export type IssueOrigin = FromIssue['data'] & FromIssue['content']

export interface TaskIssue {
  /** The number of the issue; `null` once it was erased, and for a task without an issue. */
  readonly number: number | null
  /** The state of the comment that links to the task: on the issue or, for a task without an issue, on the pull request. */
  readonly comment: 'due' | 'written' | 'failed'
  /** The revision of the task up to which the comment shows the progress; `null` when it shows no progress. */
  readonly shows: number | null
  /** The code host's id of the comment; `null` before the comment was written. */
  readonly commentId: string | null
}

type IssueEvent = RecordedOf<EventOf<(typeof issueEvents)[number]>>

export function isOfIssue<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: IssueEvent['type'] }> {
  return ['TaskCreatedFromIssue', 'IssueCommented', 'IssueCommentUpdated', 'IssueCommentFailed'].includes(
    event.type,
  )
}

export function issueAfter(before: TaskIssue | null, event: IssueEvent): TaskIssue | null {
  if (event.type === 'TaskCreatedFromIssue')
    return { number: event.content?.number ?? null, comment: 'due', commentId: null, shows: null }
  if (event.type === 'IssueCommentFailed') return before && { ...before, comment: 'failed' }
  if (event.type === 'IssueCommented')
    return {
      number: before?.number ?? null,
      comment: 'written',
      commentId: event.content?.commentId ?? null,
      shows: null,
    }
  return before && { ...before, shows: event.data.shows }
}
