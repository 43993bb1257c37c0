/** The pull request in the state of a task. */
import type { RecordedOf } from '../../kernel/event.ts'
import type { ObservedPullRequest, PullRequestStanding } from '../commands.ts'
import type { TaskEvent, UnreadableCode } from '../events.ts'

/** The task's pull request: as it was last published, and as the code host shows it. */
export interface TaskPullRequest {
  readonly number: number
  readonly headCommit: string
  /** The last report of the code host; `null` before the first report. */
  readonly observed: Omit<ObservedPullRequest, 'number' | 'nodeId' | 'repositoryId' | 'standing'> | null
  /** The last known result of the reviews and checks; missing before the first result. */
  readonly standing?: PullRequestStanding & { readonly headCommit: string | null }
  /** Whether the last request was to make it a draft; missing before the first request. */
  readonly draftRequested?: boolean
  /** Why the code host does not show the pull request; `null` while the code host shows it. */
  readonly unreadable: UnreadableCode | null
}

/** The pull request after a publication. Earlier reports are kept only if they are about the same pull request. */
export function publishedAs(
  before: TaskPullRequest | null,
  { number, headCommit }: { readonly number: number; readonly headCommit: string },
): TaskPullRequest {
  const known = before?.number === number ? before : { observed: null, unreadable: null }
  return { ...known, number, headCommit }
}

type RecordedAs<Type extends TaskEvent['type']> = Extract<RecordedOf<TaskEvent>, { type: Type }>

export function observedIn(
  before: TaskPullRequest,
  { data, content }: RecordedAs<'PullRequestObserved'>,
): TaskPullRequest {
  if (content === null) return before
  const { headCommit, mergedBy } = content
  return { ...before, observed: { ...data, headCommit, mergedBy }, unreadable: null }
}

export function standingIn(
  before: TaskPullRequest,
  { data, content }: RecordedAs<'PullRequestStandingObserved'>,
): TaskPullRequest {
  if (content !== null && content.number !== before.number) return before
  return { ...before, standing: { ...data, headCommit: content?.headCommit ?? null } }
}

export function isOfPullRequest<Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { type: `PullRequest${string}` }> {
  return event.type.startsWith('PullRequest')
}
