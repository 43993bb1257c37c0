/** Webhook payloads about reviews and comments, in the form of `@octokit/webhooks-examples`. */
import { aboutPull } from '../../../../services/codehost/state/actors.ts'
import { issueAnswer, labelsOf, pullAsIssue } from '../../../../services/codehost/rest/issueResponses.ts'
import { nodeId, simplePullRequest } from '../../../../services/codehost/rest/responses.ts'
import {
  issueCommentAnswer,
  reviewAnswer,
  reviewCommentAnswer,
  type About,
} from '../../../../services/codehost/rest/reviewResponses.ts'
import type { ReviewComment } from '../../../../services/codehost/state/reviewRecords.ts'
import type { Reviews } from '../../../../services/codehost/reviews/reviews.ts'
import type { GitHubEvent } from '../events.ts'

/** Events about what people write on pull requests and issues. */
export type Talk = Extract<
  GitHubEvent,
  {
    kind:
      | 'pull_request_review'
      | 'pull_request_review_comment'
      | 'pull_request_review_thread'
      | 'issue_comment'
      | 'issues'
  }
>

interface Placing {
  readonly reviews: Pick<Reviews, 'place' | 'comments'>
}

/** The event's action and its payload; `around` has the members of every payload. */
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
  if (event.kind === 'issues') return issueTold(about, event)
  if (event.kind === 'issue_comment') {
    const { comment, before } = event
    return {
      ...changed(before?.body, comment.body),
      issue: numbered(about, comment.number),
      comment: issueCommentAnswer(about, comment),
    }
  }
  const { pull } = event
  const shown = {
    pull_request: simplePullRequest(
      about.origin,
      about.answer,
      pull,
      aboutPull(about.state, about.repository, pull),
    ),
  }
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

/** The issue or pull request with this number, as an issue. */
function numbered(about: About, wanted: number): unknown {
  const isIt = (one: { repositoryId: number; number: number }) =>
    one.repositoryId === about.repository.id && one.number === wanted
  const pull = about.state.pullRequests.find(isIt)
  if (pull) return pullAsIssue(about, pull)
  const issue = about.state.issues.find(isIt)
  return issue && issueAnswer(about, issue)
}

/** The event of an issue: its action, and the label that was added or removed. */
function issueTold(about: About, { issue, label, before }: Extract<Talk, { kind: 'issues' }>): object {
  const changes =
    before === undefined
      ? {}
      : {
          changes: {
            ...(before.title === issue.title ? {} : { title: { from: before.title } }),
            ...(before.body === issue.body ? {} : { body: { from: before.body ?? '' } }),
          },
        }
  const [labelled] = label === undefined ? [] : labelsOf(about, [label])
  return { issue: issueAnswer(about, issue), ...(labelled ? { label: labelled } : {}), ...changes }
}

const changed = (before: string | undefined, after: string): object =>
  before === undefined || before === after ? {} : { changes: { body: { from: before } } }

const placed = async ({ reviews }: Placing, about: About, comment: ReviewComment) =>
  reviewCommentAnswer(about, comment, await reviews.place(about.repository, comment))
