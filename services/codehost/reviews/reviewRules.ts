/** Functions that reviews and their comments share: limits, fields of new texts, permissions, and events for webhooks. */
import type { Clock } from '#platform/ports/clock.ts'
import { sameName } from '../state/accounts.ts'
import { mayPush } from '../state/permissions.ts'
import type { Actor } from '../state/actors.ts'
import { invalid, notFound, Refusal } from '../httpError.ts'
import type { PullRequests } from '../pulls/pullRequests.ts'
import type { Repositories } from '../repositories/repositories.ts'
import type { PullRequest, Repository, State } from '../state/stateSchema.ts'
import type { Store } from '../state/store.ts'
import type { HostEvent } from '../state/events.ts'
import { mostTexts, type Review, type ReviewComment } from '../state/reviewRecords.ts'

/** The id of a review or comment, and the number of its pull request. */
export interface Target {
  readonly number: number
  readonly id: number
}

/** The parts of the code host that reviews and comments need. */
export interface Parts {
  readonly store: Store
  readonly repositories: Repositories
  readonly pulls: PullRequests
  readonly clock: Clock
  readonly tell: (event: HostEvent) => void
}

export const unprocessable = (message: string): Refusal =>
  invalid({ resource: 'PullRequestReview', code: 'custom', message })

export function refuseMore(state: State, repository: Repository, number: number, more: number): void {
  const isHere = (one: { repositoryId: number; number: number }) =>
    one.repositoryId === repository.id && one.number === number
  const most = Math.max(
    state.reviews.filter(isHere).length + 1,
    state.reviewComments.filter(isHere).length + more,
  )
  if (most > mostTexts)
    throw unprocessable(`This pull request has ${mostTexts} of them, the most there may be.`)
}

export const newText = (repository: Repository, number: number, by: Actor, now: string) => ({
  repositoryId: repository.id,
  number,
  author: by.account.login,
  viaApp: by.viaApp,
  createdAt: now,
  updatedAt: now,
  editedAt: null,
})

export const threadBase = (repository: Repository, number: number) => ({
  repositoryId: repository.id,
  number,
  resolvedBy: null,
})

/** The state with a new `updatedAt` for the pull request, because reviews and comments count as changes of the pull request. */
export const touched = (state: State, pull: Pick<PullRequest, 'id'>, now: string): State => ({
  ...state,
  pullRequests: state.pullRequests.map((one) => (one.id === pull.id ? { ...one, updatedAt: now } : one)),
})

export function tellReview(
  { tell, pulls }: Parts,
  repository: Repository,
  by: Actor,
  { review, comments }: { readonly review: Review; readonly comments: readonly ReviewComment[] },
): void {
  const about = { repository, pull: pulls.get(repository, review.number), sender: by.account }
  tell({ ...about, kind: 'pull_request_review', action: 'submitted', review })
  for (const comment of comments)
    tell({ ...about, kind: 'pull_request_review_comment', action: 'created', comment })
}

export function commentOf(state: State, repository: Repository, id: number): ReviewComment {
  const found = state.reviewComments.find((one) => one.repositoryId === repository.id && one.id === id)
  if (!found) throw notFound()
  return found
}

/** Throws Refusal 403 unless the account is the author of the text or may push to the repository. */
export function refuseStranger(repository: Repository, by: Actor, author: string): void {
  if (!sameName(author, by.account.login) && !mayWriteAs(by, repository))
    throw new Refusal(403, 'Must have push access to the repository.')
}

export const mayWriteAs = ({ account }: Actor, repository: Repository): boolean =>
  mayPush(account, repository)
