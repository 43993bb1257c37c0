/**
 * The part of GitHub's GraphQL schema that the code host answers: what REST has no answer to. Types and fields are as GitHub publishes
 * them, and `tests/contracts/codeHost.graphql.spec.ts` holds them to that.
 */
import { buildSchema } from 'graphql'

export const schema = buildSchema(`
scalar DateTime
scalar GitObjectID
scalar URI

interface Node { id: ID! }
interface Actor { login: String! }

type User implements Actor & Node {
  databaseId: Int
  id: ID!
  login: String!
  name: String
}

type Bot implements Actor & Node {
  databaseId: Int
  id: ID!
  login: String!
}

enum IssueState { CLOSED OPEN }
type Issue implements Node {
  author: Actor
  body: String!
  createdAt: DateTime!
  databaseId: Int
  editor: Actor
  id: ID!
  includesCreatedEdit: Boolean!
  lastEditedAt: DateTime
  number: Int!
  state: IssueState!
  title: String!
  updatedAt: DateTime!
  url: URI!
}

enum PullRequestState { CLOSED MERGED OPEN }
enum CommentAuthorAssociation { COLLABORATOR CONTRIBUTOR MEMBER NONE OWNER }
enum DiffSide { LEFT RIGHT }
enum PullRequestReviewDecision { APPROVED CHANGES_REQUESTED REVIEW_REQUIRED }
enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }
enum PullRequestReviewThreadSubjectType { FILE LINE }
enum MergeStateStatus { BEHIND BLOCKED CLEAN DIRTY DRAFT HAS_HOOKS UNKNOWN UNSTABLE }
enum MergeableState { CONFLICTING MERGEABLE UNKNOWN }

type PageInfo {
  endCursor: String
  hasNextPage: Boolean!
  hasPreviousPage: Boolean!
  startCursor: String
}

type IssueComment implements Node {
  author: Actor
  authorAssociation: CommentAuthorAssociation!
  body: String!
  createdAt: DateTime!
  databaseId: Int
  editor: Actor
  id: ID!
  includesCreatedEdit: Boolean!
  lastEditedAt: DateTime
  updatedAt: DateTime!
  url: URI!
}
type IssueCommentConnection {
  nodes: [IssueComment]
  pageInfo: PageInfo!
  totalCount: Int!
}

type PullRequestReview implements Node {
  author: Actor
  authorAssociation: CommentAuthorAssociation!
  body: String!
  comments(after: String, before: String, first: Int, last: Int): PullRequestReviewCommentConnection!
  commit: Commit
  createdAt: DateTime!
  databaseId: Int
  id: ID!
  includesCreatedEdit: Boolean!
  lastEditedAt: DateTime
  state: PullRequestReviewState!
  submittedAt: DateTime
  updatedAt: DateTime!
  url: URI!
}
type PullRequestReviewConnection {
  nodes: [PullRequestReview]
  pageInfo: PageInfo!
  totalCount: Int!
}

type PullRequestReviewComment implements Node {
  author: Actor
  authorAssociation: CommentAuthorAssociation!
  body: String!
  createdAt: DateTime!
  databaseId: Int
  diffHunk: String!
  id: ID!
  includesCreatedEdit: Boolean!
  lastEditedAt: DateTime
  line: Int
  originalLine: Int
  originalStartLine: Int
  outdated: Boolean!
  path: String!
  pullRequestReview: PullRequestReview
  replyTo: PullRequestReviewComment
  startLine: Int
  updatedAt: DateTime!
  url: URI!
}
type PullRequestReviewCommentConnection {
  nodes: [PullRequestReviewComment]
  pageInfo: PageInfo!
  totalCount: Int!
}

type PullRequestReviewThread implements Node {
  comments(after: String, before: String, first: Int, last: Int): PullRequestReviewCommentConnection!
  diffSide: DiffSide!
  id: ID!
  isCollapsed: Boolean!
  isOutdated: Boolean!
  isResolved: Boolean!
  line: Int
  originalLine: Int
  originalStartLine: Int
  path: String!
  pullRequest: PullRequest!
  resolvedBy: User
  startDiffSide: DiffSide
  startLine: Int
  subjectType: PullRequestReviewThreadSubjectType!
  viewerCanReply: Boolean!
  viewerCanResolve: Boolean!
  viewerCanUnresolve: Boolean!
}
type PullRequestReviewThreadConnection {
  nodes: [PullRequestReviewThread]
  pageInfo: PageInfo!
  totalCount: Int!
}

enum StatusState { ERROR EXPECTED FAILURE PENDING SUCCESS }
enum CheckStatusState { COMPLETED IN_PROGRESS PENDING QUEUED REQUESTED WAITING }
enum CheckConclusionState { ACTION_REQUIRED CANCELLED FAILURE NEUTRAL SKIPPED STALE STARTUP_FAILURE SUCCESS TIMED_OUT }

type App implements Node {
  databaseId: Int
  id: ID!
  name: String!
  slug: String!
}
type CheckSuite implements Node {
  app: App
  databaseId: Int
  id: ID!
}
type CheckRun implements Node {
  checkSuite: CheckSuite!
  completedAt: DateTime
  conclusion: CheckConclusionState
  databaseId: Int
  detailsUrl: URI
  id: ID!
  name: String!
  startedAt: DateTime
  status: CheckStatusState!
  summary: String
  text: String
  title: String
  url: URI!
}
type StatusContext implements Node {
  context: String!
  createdAt: DateTime!
  description: String
  id: ID!
  state: StatusState!
  targetUrl: URI
}
union StatusCheckRollupContext = CheckRun | StatusContext
type StatusCheckRollupContextConnection {
  nodes: [StatusCheckRollupContext]
  pageInfo: PageInfo!
  totalCount: Int!
}
type StatusCheckRollup implements Node {
  contexts(after: String, before: String, first: Int, last: Int): StatusCheckRollupContextConnection!
  id: ID!
  state: StatusState!
}

type Commit implements Node {
  id: ID!
  oid: GitObjectID!
  statusCheckRollup: StatusCheckRollup
}
type PullRequestCommit implements Node {
  commit: Commit!
  id: ID!
}
type PullRequestCommitConnection {
  nodes: [PullRequestCommit]
  pageInfo: PageInfo!
  totalCount: Int!
}

type Repository implements Node {
  databaseId: Int
  id: ID!
  name: String!
  nameWithOwner: String!
  issue(number: Int!): Issue
  pullRequest(number: Int!): PullRequest
}

type PullRequest implements Node {
  author: Actor
  authorAssociation: CommentAuthorAssociation!
  baseRefName: String!
  body: String!
  comments(after: String, before: String, first: Int, last: Int): IssueCommentConnection!
  commits(after: String, before: String, first: Int, last: Int): PullRequestCommitConnection!
  closedAt: DateTime
  createdAt: DateTime!
  databaseId: Int
  headRefName: String!
  headRefOid: GitObjectID!
  id: ID!
  isCrossRepository: Boolean!
  isDraft: Boolean!
  mergeCommit: Commit
  mergeStateStatus: MergeStateStatus!
  mergeable: MergeableState!
  merged: Boolean!
  mergedAt: DateTime
  mergedBy: Actor
  number: Int!
  repository: Repository!
  reviewDecision: PullRequestReviewDecision
  reviewThreads(after: String, before: String, first: Int, last: Int): PullRequestReviewThreadConnection!
  reviews(
    after: String, author: String, before: String, first: Int, last: Int, states: [PullRequestReviewState!]
  ): PullRequestReviewConnection
  state: PullRequestState!
  title: String!
  updatedAt: DateTime!
  url: URI!
}

type Query {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  repository(followRenames: Boolean = true, name: String!, owner: String!): Repository
  viewer: User!
}

input ConvertPullRequestToDraftInput {
  clientMutationId: String
  pullRequestId: ID!
}
type ConvertPullRequestToDraftPayload {
  clientMutationId: String
  pullRequest: PullRequest
}

input MarkPullRequestReadyForReviewInput {
  clientMutationId: String
  pullRequestId: ID!
}
type MarkPullRequestReadyForReviewPayload {
  clientMutationId: String
  pullRequest: PullRequest
}

input ResolveReviewThreadInput {
  clientMutationId: String
  threadId: ID!
}
type ResolveReviewThreadPayload {
  clientMutationId: String
  thread: PullRequestReviewThread
}

input UnresolveReviewThreadInput {
  clientMutationId: String
  threadId: ID!
}
type UnresolveReviewThreadPayload {
  clientMutationId: String
  thread: PullRequestReviewThread
}

type Mutation {
  convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
  markPullRequestReadyForReview(
    input: MarkPullRequestReadyForReviewInput!
  ): MarkPullRequestReadyForReviewPayload
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
  unresolveReviewThread(input: UnresolveReviewThreadInput!): UnresolveReviewThreadPayload
}
`)
