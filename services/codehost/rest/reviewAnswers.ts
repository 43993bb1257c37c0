/** What GitHub's REST API says of reviews and comments, in the shape of its OpenAPI description. */
import { accountOf } from '../accounts.ts'
import { actionsAppId } from '../checks/records.ts'
import { associationOf } from '../actors.ts'
import type { Reaction } from '../issues/records.ts'
import type { Place } from '../reviews/lines.ts'
import type { IssueComment, Review, ReviewComment } from '../reviews/records.ts'
import type { Repository, State } from '../state.ts'
import { appAnswer } from './appAnswers.ts'
import { nodeId, simpleUser, time, type FullRepository } from './answers.ts'

/** What answers about one repository are made from. */
export interface About {
  readonly origin: string
  readonly state: State
  readonly repository: Repository
  readonly answer: FullRepository
}

const userOf = ({ origin }: About, login: string) => {
  const account = accountOf(login)
  return account ? simpleUser(origin, account) : null
}

/** `pull-request-review`; on a webhook the state is in small letters. */
export function reviewAnswer(about: About, review: Review) {
  const { state, repository, answer } = about
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
    author_association: associationOf(state, repository, review.author),
    _links: { html: { href: page }, pull_request: { href: pull } },
    submitted_at: time(review.createdAt),
    updated_at: time(review.updatedAt),
    commit_id: review.commitId,
  }
}

/** `pull-request-review-comment` and `review-comment` alike. */
export function reviewCommentAnswer(about: About, comment: ReviewComment, place: Place) {
  const { state, repository, answer } = about
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
    author_association: associationOf(state, repository, comment.author),
    _links: { self: { href: url }, html: { href: page }, pull_request: { href: pull } },
    start_line: place.startLine,
    original_start_line: comment.startLine,
    start_side: comment.startSide,
    line: place.line,
    original_line: comment.line,
    side: comment.side,
    subject_type: 'line',
    reactions: reactionsOf(about, url, { subject: 'review_comment', subjectId: comment.id }),
  }
}

/** `issue-comment`. */
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
    author_association: associationOf(state, repository, comment.author),
    body: comment.body,
    reactions: reactionsOf(about, url, { subject: 'issue_comment', subjectId: comment.id }),
    performed_via_github_app: viaAppAnswer(about, comment.viaApp),
  }
}

/** `reaction-rollup`: how often each sign was put below a text. */
export function reactionsOf(
  { state, repository }: About,
  url: string,
  of: Pick<Reaction, 'subject' | 'subjectId'> | undefined,
) {
  const here = state.reactions.filter(
    (one) =>
      one.repositoryId === repository.id && one.subject === of?.subject && one.subjectId === of.subjectId,
  )
  const count = (kind: Reaction['content']) => here.filter(({ content }) => content === kind).length
  return {
    url: `${url}/reactions`,
    total_count: here.length,
    '+1': count('+1'),
    '-1': count('-1'),
    laugh: count('laugh'),
    hooray: count('hooray'),
    confused: count('confused'),
    heart: count('heart'),
    rocket: count('rocket'),
    eyes: count('eyes'),
  }
}

/** GitHub's own App for checks, on every host. */
const actionsApp = {
  id: actionsAppId,
  slug: 'github-actions',
  name: 'GitHub Actions',
  description: 'Reports checks on this code host',
  permissions: { checks: 'write', metadata: 'read' },
} as const

/** `nullable-integration`: the App that something was done with; `null` where it was none, or is gone. */
export function viaAppAnswer({ origin, state }: About, id: number | null) {
  const app = state.apps.find((one) => one.id === id)
  if (app) return appAnswer(origin, app)
  if (id !== actionsAppId) return null
  const at = '2024-01-01T00:00:00Z'
  return {
    ...actionsApp,
    node_id: nodeId('App', id),
    owner: simpleUser(origin, { type: 'Organization', id: 9919, login: 'github' }),
    external_url: origin,
    html_url: `${origin}/apps/${actionsApp.slug}`,
    created_at: at,
    updated_at: at,
    events: [],
  }
}
