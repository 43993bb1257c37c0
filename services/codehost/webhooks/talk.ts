/** What webhooks carry of reviews and comments, in the shapes of `@octokit/webhooks-examples`. */
import { accountOf } from '../accounts.ts'
import { nodeId, simplePullRequest } from '../rest/answers.ts'
import {
  issueCommentAnswer,
  pullAsIssue,
  reviewAnswer,
  reviewCommentAnswer,
  type About,
} from '../rest/reviewAnswers.ts'
import type { ReviewComment } from '../reviews/records.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { HostEvent } from './events.ts'

/** What is said of pull requests and issues. */
export type Talk = Extract<
  HostEvent,
  {
    kind:
      | 'pull_request_review'
      | 'pull_request_review_comment'
      | 'pull_request_review_thread'
      | 'issue_comment'
  }
>

interface Placing {
  readonly reviews: Pick<Reviews, 'place' | 'comments'>
}

/** The event's action and its payload; `around` is what every payload has. */
export async function talkOf(
  host: Placing,
  about: About,
  event: Talk,
  around: object,
): Promise<{ readonly action: string; readonly payload: object }> {
  return {
    action: event.action,
    payload: { action: event.action, ...(await said(host, about, event)), ...around },
  }
}

async function said(host: Placing, about: About, event: Talk): Promise<object> {
  if (event.kind === 'issue_comment') {
    const { comment, before } = event
    const pull = about.state.pullRequests.find(
      ({ repositoryId, number }) => repositoryId === about.repository.id && number === comment.number,
    )
    return {
      ...changed(before?.body, comment.body),
      issue: pull && pullAsIssue(about, pull),
      comment: issueCommentAnswer(about, comment),
    }
  }
  const { pull } = event
  const shown = { pull_request: simplePullRequest(about.origin, about.answer, pull, accountOf(pull.author)) }
  switch (event.kind) {
    case 'pull_request_review': {
      const answer = reviewAnswer(about, event.review)
      const review = { ...answer, body: answer.body || null, state: answer.state.toLowerCase() }
      return { ...changed(event.before?.body, event.review.body), review, ...shown }
    }
    case 'pull_request_review_comment': {
      const { comment, before } = event
      return { ...changed(before?.body, comment.body), comment: await placed(host, about, comment), ...shown }
    }
    case 'pull_request_review_thread': {
      const { thread } = event
      const comments = host.reviews
        .comments(about.repository, thread.number)
        .filter(({ threadId }) => threadId === thread.id)
      const answers = await Promise.all(comments.map((one) => placed(host, about, one)))
      return {
        thread: { node_id: nodeId('PullRequestReviewThread', thread.id), comments: answers },
        ...shown,
      }
    }
  }
}

const changed = (before: string | undefined, after: string): object =>
  before === undefined || before === after ? {} : { changes: { body: { from: before } } }

const placed = async ({ reviews }: Placing, about: About, comment: ReviewComment) =>
  reviewCommentAnswer(about, comment, await reviews.place(about.repository, comment))
