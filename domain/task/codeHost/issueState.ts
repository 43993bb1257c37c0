/** The issue that a task was made of, and what is told of the task at the code host, in the state of the task. */
import type { EventOf } from '../../kernel/event.schema.ts'
import type { RecordedOf } from '../../kernel/event.ts'
import type { issueEvents, TaskCreatedFromIssue } from './issueEvents.ts'

type FromIssue = EventOf<typeof TaskCreatedFromIssue>

/** The issue that a new task is made of. */
export type IssueOrigin = FromIssue['data'] & FromIssue['content']

export interface TaskIssue {
  /** `null` once it is erased, and where only the pull request is told. */
  readonly number: number | null
  /** That on the issue, or on the pull request of a task that was made of none, which leads to the task. */
  readonly comment: 'due' | 'written' | 'failed'
  /** The revision of the task that it tells of; `null` where it tells of none. */
  readonly shows: number | null
  /** `null` before there is one. */
  readonly commentId: string | null
}

type IssueEvent = RecordedOf<EventOf<(typeof issueEvents)[number]>>

/** Whether an event is about the issue that the task was made of. */
export function isOfIssue<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: IssueEvent['type'] }> {
  return ['TaskCreatedFromIssue', 'IssueCommented', 'IssueCommentUpdated', 'IssueCommentFailed'].includes(
    event.type,
  )
}

/** The issue after an event of its own. */
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
