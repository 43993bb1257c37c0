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

enum PullRequestState { CLOSED MERGED OPEN }

type Repository implements Node {
  databaseId: Int
  id: ID!
  name: String!
  nameWithOwner: String!
  pullRequest(number: Int!): PullRequest
}

type PullRequest implements Node {
  baseRefName: String!
  closedAt: DateTime
  createdAt: DateTime!
  headRefName: String!
  headRefOid: GitObjectID!
  id: ID!
  isDraft: Boolean!
  merged: Boolean!
  mergedAt: DateTime
  mergedBy: Actor
  number: Int!
  repository: Repository!
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

type Mutation {
  convertPullRequestToDraft(input: ConvertPullRequestToDraftInput!): ConvertPullRequestToDraftPayload
  markPullRequestReadyForReview(
    input: MarkPullRequestReadyForReviewInput!
  ): MarkPullRequestReadyForReviewPayload
}
`)
