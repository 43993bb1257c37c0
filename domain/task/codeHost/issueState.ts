/** The issue and the comment about the task at the code host, in the state of the task. */
import type { EventOf } from '../../kernel/event.schema.ts'
import type { RecordedOf } from '../../kernel/event.ts'
import type { issueEvents, TaskCreatedFromIssue } from './issueEvents.ts'

type FromIssue = EventOf<typeof TaskCreatedFromIssue>

export type IssueOrigin = FromIssue['data'] & FromIssue['content']

export interface TaskIssue {
  /** `null` once erased, and when the comment is on the pull request only. */
  readonly number: number | null
  /** The comment that links to the task: on the issue, or on the pull request of a task that was not made from an issue. */
  readonly comment: 'due' | 'written' | 'failed'
  /** The revision of the task that the comment shows; `null` when it shows no progress. */
  readonly shows: number | null
  /** `null` before the comment exists. */
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
