/** Reviews and comments in the form of GitHub's REST API, with the fields that the product reads. */
import { accountOf } from '../state/accounts.ts'
import { clientAppId } from '../state/actors.ts'
import type { Extension } from '../host.ts'
import type { Place } from '../reviews/commentPlaces.ts'
import type { IssueComment, Review, ReviewComment } from '../state/reviewRecords.ts'
import type { Repository, State } from '../state/stateSchema.ts'
import { nodeId, simpleUser, time, type FullRepository } from './responses.ts'

/** What is needed to write a repository's parts, such as reviews and issues, in the form of the REST API. */
export interface About {
  readonly origin: string
  readonly state: State
  readonly repository: Repository
  readonly answer: FullRepository
  readonly appAnswer: Extension['appAnswer']
}

const userOf = ({ origin }: About, login: string) => {
  const account = accountOf(login)
  return account ? simpleUser(origin, account) : null
}

/** A review in GitHub's schema `pull-request-review`. Webhooks write the state in lower case. */
export function reviewAnswer(about: About, review: Review) {
  const { answer } = about
  const page = `${answer.html_url}/pull/${review.number}#pullrequestreview-${review.id}`
  const pull = `${answer.url}/pulls/${review.number}`
  return {
    id: review.id,
    node_id: nodeId('PullRequestReview', review.id),
    user: userOf(about, review.author),
    body: review.body,
    state: review.state,
    html_url: page,
    pull_request_url: pull,
    submitted_at: time(review.createdAt),
    updated_at: time(review.updatedAt),
    commit_id: review.commitId,
  }
}

/** A line comment in GitHub's schemas `pull-request-review-comment` and `review-comment`. */
export function reviewCommentAnswer(about: About, comment: ReviewComment, place: Place) {
  const { answer } = about
  const url = `${answer.url}/pulls/comments/${comment.id}`
  const page = `${answer.html_url}/pull/${comment.number}#discussion_r${comment.id}`
  const pull = `${answer.url}/pulls/${comment.number}`
  return {
    url,
    pull_request_review_id: comment.reviewId,
    id: comment.id,
    node_id: nodeId('PullRequestReviewComment', comment.id),
    diff_hunk: comment.diffHunk,
    path: comment.path,
    position: place.position,
    original_position: comment.diffHunk.split('\n').length - 1,
    commit_id: place.commitId,
    original_commit_id: comment.commitId,
    ...(comment.inReplyTo === null ? {} : { in_reply_to_id: comment.inReplyTo }),
    user: userOf(about, comment.author),
    body: comment.body,
    created_at: time(comment.createdAt),
    updated_at: time(comment.updatedAt),
    html_url: page,
    pull_request_url: pull,
    start_line: place.startLine,
    original_start_line: comment.startLine,
    start_side: comment.startSide,
    line: place.line,
    original_line: comment.line,
    side: comment.side,
    subject_type: 'line',
  }
}

/** A comment in GitHub's schema `issue-comment`. */
export function issueCommentAnswer(about: About, comment: IssueComment) {
  const { state, repository, answer } = about
  const isPull = state.pullRequests.some(
    ({ repositoryId, number }) => repositoryId === repository.id && number === comment.number,
  )
  const url = `${answer.url}/issues/comments/${comment.id}`
  return {
    url,
    html_url: `${answer.html_url}/${isPull ? 'pull' : 'issues'}/${comment.number}#issuecomment-${comment.id}`,
    issue_url: `${answer.url}/issues/${comment.number}`,
    id: comment.id,
    node_id: nodeId('IssueComment', comment.id),
    user: userOf(about, comment.author),
    created_at: time(comment.createdAt),
    updated_at: time(comment.updatedAt),
    body: comment.body,
    performed_via_github_app: viaAppAnswer(about, comment.viaApp),
  }
}

/** The app whose token was used, in GitHub's schema `nullable-integration`; `null` when no app was used, and when the app was deleted. */
export function viaAppAnswer({ origin, appAnswer }: About, id: number | null): object | null {
  if (id === null) return null
  if (appAnswer) return appAnswer(origin, id)
  return id === clientAppId ? { id, slug: 'flightdeck', name: 'Flightdeck' } : null
}
