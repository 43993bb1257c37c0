/** Reviews, threads and comments of a pull request. */
import { mayPush, sameName } from '../accounts.ts'
import { associationOf } from '../actors.ts'
import { nodeId, time } from '../rest/answers.ts'
import type { IssueComment, Review, ReviewComment, ReviewThread } from '../reviews/records.ts'
import type { PullRequest, Repository } from '../state.ts'
import { accountNamed, type Asking } from './asking.ts'
import { commit } from './commit.ts'
import { connection, type PageArguments } from './connections.ts'

/** The repository and pull request that something was said of. */
export interface Of {
  readonly repository: Repository
  readonly pull: PullRequest
}

interface ReviewArguments extends PageArguments {
  readonly author?: string | null
  readonly states?: readonly string[] | null
}

/** The fields of a pull request that hold what was said of it. `pullRequest` is what a thread is part of. */
export function talkOf(asking: Asking, of: Of, pullRequest: () => object): object {
  const { host } = asking
  const { repository, pull } = of
  return {
    comments: (args: PageArguments) =>
      connection(host.comments.of(repository, pull.number), args, (one) => issueComment(asking, of, one)),
    reviews: ({ author, states, ...args }: ReviewArguments) => {
      const wanted = host.reviews
        .of(repository, pull.number)
        .filter((one) => author == null || sameName(one.author, author))
        .filter((one) => states == null || states.includes(one.state))
      return connection(wanted, args, (one) => review(asking, of, one))
    },
    reviewThreads: (args: PageArguments) =>
      connection(host.reviews.threads(repository, pull.number), args, (one) =>
        reviewThread(asking, of, one, pullRequest),
      ),
  }
}

/** What every text has. */
const said = (
  { host, origin }: Asking,
  { repository, pull }: Pick<Of, 'repository'> & Partial<Of>,
  one: IssueComment | Review | ReviewComment,
  anchor: string,
) => ({
  databaseId: one.id,
  author: accountNamed(one.author),
  authorAssociation: associationOf(host.store.current(), repository, one.author),
  body: one.body,
  createdAt: time(one.createdAt),
  updatedAt: time(one.updatedAt),
  lastEditedAt: one.editedAt === null ? null : time(one.editedAt),
  includesCreatedEdit: one.editedAt !== null,
  url: `${origin}/${repository.owner}/${repository.name}/${pull ? 'pull' : 'issues'}/${one.number}#${anchor}`,
})

/** A comment below a pull request, or without `pull` below an issue. */
export const issueComment = (
  asking: Asking,
  of: Pick<Of, 'repository'> & Partial<Of>,
  one: IssueComment,
): object => ({
  __typename: 'IssueComment',
  ...said(asking, of, one, `issuecomment-${one.id}`),
  id: nodeId('IssueComment', one.id),
  editor: one.editedBy === null ? null : accountNamed(one.editedBy),
})

function review(asking: Asking, of: Of, one: Review): object {
  const comments = asking.host.reviews
    .comments(of.repository, one.number)
    .filter(({ reviewId }) => reviewId === one.id)
  return {
    __typename: 'PullRequestReview',
    ...said(asking, of, one, `pullrequestreview-${one.id}`),
    id: nodeId('PullRequestReview', one.id),
    state: one.state,
    submittedAt: time(one.createdAt),
    commit: () => commit(asking, of.repository, one.commitId),
    comments: (args: PageArguments) =>
      connection(comments, args, (comment) => reviewComment(asking, of, comment)),
  }
}

async function reviewComment(asking: Asking, of: Of, one: ReviewComment): Promise<object> {
  const { host } = asking
  const place = await host.reviews.place(of.repository, one)
  const find = (id: number) => host.reviews.comments(of.repository, one.number).find((each) => each.id === id)
  return {
    __typename: 'PullRequestReviewComment',
    ...said(asking, of, one, `discussion_r${one.id}`),
    id: nodeId('PullRequestReviewComment', one.id),
    diffHunk: one.diffHunk,
    path: one.path,
    line: place.line,
    startLine: place.startLine,
    originalLine: one.line,
    originalStartLine: one.startLine,
    outdated: place.line === null,
    pullRequestReview: () => {
      const found = host.reviews.of(of.repository, one.number).find(({ id }) => id === one.reviewId)
      return found ? review(asking, of, found) : null
    },
    replyTo: () => {
      const first = one.inReplyTo === null ? undefined : find(one.inReplyTo)
      return first ? reviewComment(asking, of, first) : null
    },
  }
}

/** A thread stands where its first comment stands. */
export async function reviewThread(
  asking: Asking,
  of: Of,
  thread: ReviewThread,
  pullRequest: () => object,
): Promise<object | null> {
  const { host, viewer } = asking
  const comments = host.reviews
    .comments(of.repository, thread.number)
    .filter(({ threadId }) => threadId === thread.id)
  const [first] = comments
  if (!first) return null
  const place = await host.reviews.place(of.repository, first)
  const isResolved = thread.resolvedBy !== null
  const mayResolve = mayPush(viewer, of.repository) || sameName(of.pull.author, viewer.login)
  return {
    __typename: 'PullRequestReviewThread',
    id: nodeId('PullRequestReviewThread', thread.id),
    isResolved,
    isCollapsed: isResolved,
    isOutdated: place.line === null,
    resolvedBy: thread.resolvedBy === null ? null : accountNamed(thread.resolvedBy),
    path: first.path,
    line: place.line,
    startLine: place.startLine,
    originalLine: first.line,
    originalStartLine: first.startLine,
    diffSide: first.side,
    startDiffSide: first.startSide,
    subjectType: 'LINE',
    viewerCanReply: true,
    viewerCanResolve: mayResolve && !isResolved,
    viewerCanUnresolve: mayResolve && isResolved,
    pullRequest,
    comments: (args: PageArguments) => connection(comments, args, (one) => reviewComment(asking, of, one)),
  }
}
