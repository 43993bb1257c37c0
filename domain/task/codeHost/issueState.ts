/** The issue that a task was made of, in the state of the task. */
import type { EventOf } from '../../kernel/event.schema.ts'
import type { RecordedOf } from '../../kernel/event.ts'
import type { issueEvents, TaskCreatedFromIssue } from './issueEvents.ts'

type FromIssue = EventOf<typeof TaskCreatedFromIssue>

/** The issue that a new task is made of. */
export type IssueOrigin = FromIssue['data'] & FromIssue['content']

export interface TaskIssue {
  /** `null` once it is erased. */
  readonly number: number | null
  /** That on the issue which leads to the task. */
  readonly comment: 'due' | 'settled'
}

type IssueEvent = RecordedOf<EventOf<(typeof issueEvents)[number]>>

/** Whether an event is about the issue that the task was made of. */
export function isOfIssue<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: IssueEvent['type'] }> {
  return ['TaskCreatedFromIssue', 'IssueCommented', 'IssueCommentFailed'].includes(event.type)
}

/** The issue after an event of its own. */
export function issueAfter(before: TaskIssue | null, event: IssueEvent): TaskIssue | null {
  if (event.type === 'TaskCreatedFromIssue') return { number: event.content?.number ?? null, comment: 'due' }
  return before && { ...before, comment: 'settled' }
}
