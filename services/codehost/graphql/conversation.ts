/** GraphQL objects for the reviews, threads and comments of a pull request. */
import { nodeId, time } from '../rest/responses.ts'
import type { IssueComment, Review, ReviewComment, ReviewThread } from '../state/reviewRecords.ts'
import type { PullRequest, Repository } from '../state/stateSchema.ts'
import { accountNamed, type ResolverContext } from './context.ts'
import { commit } from './commit.ts'
import { connection, type PageArguments } from './connections.ts'

interface ReviewArguments extends PageArguments {
  readonly states?: readonly string[] | null
}

/** The fields of a pull request that list comments and reviews. */
export function conversationOf(
  context: ResolverContext,
  repository: Repository,
  { number }: PullRequest,
): object {
  const { reviews, comments } = context.host
  return {
    comments: (args: PageArguments) => connection(comments.of(repository, number), args, issueComment),
    reviews: ({ states, ...args }: ReviewArguments) => {
      const found = reviews.of(repository, number).filter(({ state }) => states?.includes(state) ?? true)
      return connection(found, args, (one) => review(context, repository, one))
    },
    reviewThreads: (args: PageArguments) =>
      connection(reviews.threads(repository, number), args, (one) => reviewThread(context, repository, one)),
  }
}

/** The fields that all comments and reviews have. */
const said = (one: IssueComment | Review | ReviewComment) => ({
  databaseId: one.id,
  author: accountNamed(one.author),
  body: one.body,
  createdAt: time(one.createdAt),
  lastEditedAt: one.editedAt === null ? null : time(one.editedAt),
})

/** A comment on an issue or on a whole pull request. */
export const issueComment = (one: IssueComment): object => ({
  __typename: 'IssueComment',
  ...said(one),
  id: nodeId('IssueComment', one.id),
  editor: one.editedBy === null ? null : accountNamed(one.editedBy),
})

const review = (context: ResolverContext, repository: Repository, one: Review): object => ({
  __typename: 'PullRequestReview',
  ...said(one),
  id: nodeId('PullRequestReview', one.id),
  state: one.state,
  commit: () => commit(context, repository, one.commitId),
})

const reviewComment = (one: ReviewComment): object => ({
  __typename: 'PullRequestReviewComment',
  ...said(one),
  id: nodeId('PullRequestReviewComment', one.id),
})

/** A thread of line comments, with the line of its first comment; `null` when the thread has no comments. */
export async function reviewThread(
  { host: { reviews } }: ResolverContext,
  repository: Repository,
  thread: ReviewThread,
): Promise<object | null> {
  const comments = reviews
    .comments(repository, thread.number)
    .filter(({ threadId }) => threadId === thread.id)
  const [first] = comments
  if (!first) return null
  const { line } = await reviews.place(repository, first)
  return {
    __typename: 'PullRequestReviewThread',
    id: nodeId('PullRequestReviewThread', thread.id),
    isResolved: thread.resolvedBy !== null,
    isOutdated: line === null,
    resolvedBy: thread.resolvedBy === null ? null : accountNamed(thread.resolvedBy),
    path: first.path,
    line,
    comments: (args: PageArguments) => connection(comments, args, reviewComment),
  }
}
