/** The state of the local code host, without the content of git repositories. Times are in ISO 8601. Of each token, only the SHA-256 is stored. */
import { z } from 'zod'
import { roleNames } from './permissions.ts'
import { Issue, IssueEvent, Label } from './issueRecords.ts'
import { IssueComment, Review, ReviewComment, ReviewThread } from './reviewRecords.ts'

const Time = z.iso.datetime()
const Sha = z.string().regex(/^[0-9a-f]{40,64}$/)

/** A pair of tokens with which an app can act on behalf of a person. */
const Grant = z.object({
  login: z.string(),
  clientId: z.string(),
  accessHash: z.string(),
  accessExpiresAt: Time,
  refreshHash: z.string(),
  refreshExpiresAt: Time,
})

/** The session of a browser in which a person chose an account. */
const Session = z.object({ login: z.string(), hash: z.string(), expiresAt: Time })

const Repository = z.object({
  id: z.int().positive(),
  owner: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  isPrivate: z.boolean(),
  /** The path or address from which the repository was imported as a seed; `null` if it was created on the code host. */
  source: z.string().nullable(),
  /** The branch that HEAD names, even if this branch does not exist yet. */
  defaultBranch: z.string(),
  /** The last commit of the default branch. `language` was determined from the files of this commit. */
  defaultTip: Sha.nullable(),
  language: z.string().nullable(),
  createdAt: Time,
  updatedAt: Time,
  pushedAt: Time.nullable(),
  archived: z.boolean().default(false),
  /** People to whom the owner gave a role. */
  collaborators: z
    .array(z.object({ login: z.string(), role: z.enum(roleNames) }))
    .readonly()
    .default([]),
})

const PullRequest = z.object({
  id: z.int().positive(),
  repositoryId: z.int().positive(),
  number: z.int().positive(),
  title: z.string(),
  body: z.string().nullable(),
  draft: z.boolean(),
  author: z.string(),
  /** The names of the pull request's labels. */
  labels: z.array(z.string()).readonly().default([]),
  head: z.string(),
  base: z.string(),
  headSha: Sha,
  /** The last commit of the base branch; for a closed or merged pull request, the last while it was open. */
  baseSha: Sha,
  createdAt: Time,
  updatedAt: Time,
  closedAt: Time.nullable(),
  /**
   * When and by whom the pull request was merged; `null` before. `commit` is the merge commit; `null` when the pull request's commits reached the
   * base branch by a push.
   */
  merged: z.object({ at: Time, by: z.string().nullable(), commit: Sha.nullable() }).nullable(),
})

export const State = z.object({
  version: z.literal(2),
  nextRepositoryId: z.int().positive(),
  nextPullRequestId: z.int().positive(),
  grants: z.array(Grant).readonly(),
  sessions: z.array(Session).readonly(),
  repositories: z.array(Repository).readonly(),
  pullRequests: z.array(PullRequest).readonly(),
  /** The next id for an issue, review, thread, comment, label or event. */
  nextTextId: z.int().positive().default(1),
  reviews: z.array(Review).readonly().default([]),
  reviewThreads: z.array(ReviewThread).readonly().default([]),
  reviewComments: z.array(ReviewComment).readonly().default([]),
  issueComments: z.array(IssueComment).readonly().default([]),
  issues: z.array(Issue).readonly().default([]),
  labels: z.array(Label).readonly().default([]),
  issueEvents: z.array(IssueEvent).readonly().default([]),
})

export type State = Readonly<z.infer<typeof State>>
export type Grant = Readonly<z.infer<typeof Grant>>
export type Session = Readonly<z.infer<typeof Session>>
export type Repository = Readonly<z.infer<typeof Repository>>
export type PullRequest = Readonly<z.infer<typeof PullRequest>>

/** The state of a new code host. */
export const emptyState: State = {
  version: 2,
  nextRepositoryId: 1,
  nextPullRequestId: 1,
  grants: [],
  sessions: [],
  repositories: [],
  pullRequests: [],
  nextTextId: 1,
  reviews: [],
  reviewThreads: [],
  reviewComments: [],
  issueComments: [],
  issues: [],
  labels: [],
  issueEvents: [],
}
