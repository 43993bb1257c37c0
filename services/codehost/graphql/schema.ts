/**
 * The part of GitHub's GraphQL schema that the product uses. `tests/contracts/codeHost.graphql.spec.ts` compares types and fields with GitHub's
 * published schema.
 */
import { buildSchema } from 'graphql'

const page = 'after: String, before: String, first: Int, last: Int'
const connections = [
  'IssueComment',
  'PullRequestReview',
  'PullRequestReviewComment',
  'PullRequestReviewThread',
]
const connectionOf = (name: string): string => `
type ${name}Connection { nodes: [${name}] pageInfo: PageInfo! totalCount: Int! }`

export const schema = buildSchema(`
scalar DateTime
scalar GitObjectID

interface Node { id: ID! }
interface Actor { login: String! }
type User implements Actor & Node { databaseId: Int id: ID! login: String! }
type Bot implements Actor & Node { databaseId: Int id: ID! login: String! }

type PageInfo { endCursor: String hasNextPage: Boolean! }
${[...connections, 'PullRequestCommit', 'StatusCheckRollupContext'].map(connectionOf).join('')}

enum IssueState { CLOSED OPEN }
type Issue implements Node {
  author: Actor
  body: String!
  editor: Actor
  id: ID!
  lastEditedAt: DateTime
  state: IssueState!
  title: String!
}
type IssueComment implements Node {
  author: Actor
  body: String!
  databaseId: Int
  editor: Actor
  id: ID!
  lastEditedAt: DateTime
}

enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }
type PullRequestReview implements Node {
  author: Actor
  body: String!
  commit: Commit
  id: ID!
  state: PullRequestReviewState!
}
type PullRequestReviewComment implements Node {
  author: Actor
  body: String!
  createdAt: DateTime!
  databaseId: Int
  id: ID!
  lastEditedAt: DateTime
}
type PullRequestReviewThread implements Node {
  comments(${page}): PullRequestReviewCommentConnection!
  id: ID!
  isOutdated: Boolean!
  isResolved: Boolean!
  line: Int
  path: String!
  resolvedBy: User
}

enum StatusState { ERROR EXPECTED FAILURE PENDING SUCCESS }
enum CheckStatusState { COMPLETED IN_PROGRESS PENDING QUEUED REQUESTED WAITING }
enum CheckConclusionState { ACTION_REQUIRED CANCELLED FAILURE NEUTRAL SKIPPED STALE STARTUP_FAILURE SUCCESS TIMED_OUT }
type App implements Node { id: ID! slug: String! }
type CheckSuite implements Node { app: App id: ID! }
type CheckRun implements Node {
  checkSuite: CheckSuite!
  conclusion: CheckConclusionState
  databaseId: Int
  id: ID!
  name: String!
  status: CheckStatusState!
}
type StatusContext implements Node { context: String! id: ID! state: StatusState! }
union StatusCheckRollupContext = CheckRun | StatusContext
type StatusCheckRollup implements Node {
  contexts(${page}): StatusCheckRollupContextConnection!
  id: ID!
  state: StatusState!
}
type Commit implements Node { id: ID! oid: GitObjectID! statusCheckRollup: StatusCheckRollup }
type PullRequestCommit implements Node { commit: Commit! id: ID! }

type Repository implements Node {
  databaseId: Int
  id: ID!
  nameWithOwner: String!
  pullRequest(number: Int!): PullRequest
}

enum PullRequestState { CLOSED MERGED OPEN }
enum PullRequestReviewDecision { APPROVED CHANGES_REQUESTED REVIEW_REQUIRED }
enum MergeStateStatus { BEHIND BLOCKED CLEAN DIRTY DRAFT HAS_HOOKS UNKNOWN UNSTABLE }
enum MergeableState { CONFLICTING MERGEABLE UNKNOWN }
type PullRequest implements Node {
  author: Actor
  body: String!
  comments(${page}): IssueCommentConnection!
  commits(${page}): PullRequestCommitConnection!
  headRefOid: GitObjectID!
  id: ID!
  isCrossRepository: Boolean!
  isDraft: Boolean!
  mergeStateStatus: MergeStateStatus!
  mergeable: MergeableState!
  mergedAt: DateTime
  mergedBy: Actor
  number: Int!
  repository: Repository!
  reviewDecision: PullRequestReviewDecision
  reviewThreads(${page}): PullRequestReviewThreadConnection!
  reviews(${page}, states: [PullRequestReviewState!]): PullRequestReviewConnection
  state: PullRequestState!
  title: String!
  updatedAt: DateTime!
}

type Query {
  node(id: ID!): Node
  nodes(ids: [ID!]!): [Node]!
  repository(name: String!, owner: String!): Repository
}

input ConvertPullRequestToDraftInput { pullRequestId: ID! }
input MarkPullRequestReadyForReviewInput { pullRequestId: ID! }
input ResolveReviewThreadInput { threadId: ID! }
input UnresolveReviewThreadInput { threadId: ID! }
type ConvertPullRequestToDraftPayload { pullRequest: PullRequest }
type MarkPullRequestReadyForReviewPayload { pullRequest: PullRequest }
type ResolveReviewThreadPayload { thread: PullRequestReviewThread }
type UnresolveReviewThreadPayload { thread: PullRequestReviewThread }
type Mutation {
  convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
  markPullRequestReadyForReview(input: MarkPullRequestReadyForReviewInput!): MarkPullRequestReadyForReviewPayload
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
  unresolveReviewThread(input: UnresolveReviewThreadInput!): UnresolveReviewThreadPayload
}
`)
