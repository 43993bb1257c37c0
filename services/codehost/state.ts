/** What the local code host remembers, besides the repositories themselves. Times are ISO 8601; tokens only as SHA-256. */
import { z } from 'zod'
import { roleNames } from './accounts.ts'
import { Issue, IssueEvent, Label, Reaction } from './issues/records.ts'
import { CheckRun, CommitStatus } from './checks/records.ts'
import { IssueComment, Review, ReviewComment, ReviewThread } from './reviews/records.ts'

const Time = z.iso.datetime()
const Sha = z.string().regex(/^[0-9a-f]{40,64}$/)

/** A token pair that lets an app act for a person. */
const Grant = z.object({
  login: z.string(),
  clientId: z.string(),
  accessHash: z.string(),
  accessExpiresAt: Time,
  refreshHash: z.string(),
  refreshExpiresAt: Time,
})

/** A browser that a person chose an account in. */
const Session = z.object({ login: z.string(), hash: z.string(), expiresAt: Time })

/** `read`, `write` or `admin` by permission: `contents`, `pull_requests` and the others of GitHub's. */
const Permissions = z.record(z.string(), z.enum(['read', 'write', 'admin'])).readonly()

/** Where an App is told what happens. */
const AppHook = z.object({ url: z.string(), active: z.boolean(), secret: z.string().nullable() }).readonly()

/** A GitHub App that is registered here. */
const App = z.object({
  id: z.int().positive(),
  slug: z.string(),
  name: z.string(),
  /** The login of the person or organisation that registered it. */
  owner: z.string(),
  description: z.string().nullable(),
  homepage: z.string(),
  clientId: z.string(),
  clientSecretHash: z.string(),
  /** PEM; the private half is with the App only. `null` until it fetched that. */
  publicKey: z.string().nullable(),
  hook: AppHook.nullable(),
  permissions: Permissions,
  events: z.array(z.string()).readonly(),
  /** Whether others than its owner can install it. */
  isPublic: z.boolean(),
  callbackUrls: z.array(z.string()).readonly(),
  setupUrl: z.string().nullable(),
  setupOnUpdate: z.boolean(),
  requestsOAuthOnInstall: z.boolean(),
  /** Whether it stands in the configuration of this host, and follows that at each start. */
  isConfigured: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
})

/** An App on the repositories of an account. */
const Installation = z.object({
  id: z.int().positive(),
  appId: z.int().positive(),
  account: z.string(),
  /** `null`: all that the account has, also those to come. */
  repositoryIds: z.array(z.int()).readonly().nullable(),
  /** What the account granted; the App may ask for more since. */
  permissions: Permissions,
  events: z.array(z.string()).readonly(),
  createdAt: Time,
  updatedAt: Time,
  suspended: z.object({ at: Time, by: z.string().nullable() }).readonly().nullable(),
})

/** A token of an installation; `repositoryIds` and `permissions` as it was made for. */
const InstallationToken = z.object({
  hash: z.string(),
  installationId: z.int().positive(),
  repositoryIds: z.array(z.int()).readonly().nullable(),
  permissions: Permissions,
  expiresAt: Time,
})

/** A member asks the owners of an organisation to install an App. */
const InstallationRequest = z.object({
  id: z.int().positive(),
  appId: z.int().positive(),
  account: z.string(),
  requester: z.string(),
  createdAt: Time,
})

/** What may not be done to a branch by pushing. */
const BranchProtection = z.object({
  branch: z.string(),
  /** How many approvals a pull request needs; `null`: a push will do. */
  approvals: z.int().nonnegative().nullable(),
  signatures: z.boolean(),
  forcePushes: z.boolean(),
})

const Repository = z.object({
  id: z.int().positive(),
  owner: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  isPrivate: z.boolean(),
  /** Where a seed came from; `null` for a repository made here. */
  source: z.string().nullable(),
  /** The branch that HEAD names, also while it is still to be born. */
  defaultBranch: z.string(),
  /** The tip of the default branch that `language` was read from. */
  defaultTip: Sha.nullable(),
  language: z.string().nullable(),
  createdAt: Time,
  updatedAt: Time,
  pushedAt: Time.nullable(),
  archived: z.boolean().default(false),
  /** Names that it had, the last one at the end; they lead to it until another takes them. */
  formerNames: z
    .array(z.object({ owner: z.string(), name: z.string() }))
    .readonly()
    .default([]),
  protections: z.array(BranchProtection).readonly().default([]),
  /** Whom the owner gave a role. */
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
  /** Names of labels. */
  labels: z.array(z.string()).readonly().default([]),
  head: z.string(),
  base: z.string(),
  headSha: Sha,
  /** The tip of the base branch, as it was when the pull request was last open. */
  baseSha: Sha,
  createdAt: Time,
  updatedAt: Time,
  closedAt: Time.nullable(),
  /** `commit` is `null` when the work reached the base branch by a push. */
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
  /** The next id of whatever is said or reported. */
  nextTextId: z.int().positive().default(1),
  reviews: z.array(Review).readonly().default([]),
  reviewThreads: z.array(ReviewThread).readonly().default([]),
  reviewComments: z.array(ReviewComment).readonly().default([]),
  issueComments: z.array(IssueComment).readonly().default([]),
  nextAppId: z.int().positive().default(1),
  nextInstallationId: z.int().positive().default(5_001),
  apps: z.array(App).readonly().default([]),
  installations: z.array(Installation).readonly().default([]),
  installationTokens: z.array(InstallationToken).readonly().default([]),
  installationRequests: z.array(InstallationRequest).readonly().default([]),
  issues: z.array(Issue).readonly().default([]),
  labels: z.array(Label).readonly().default([]),
  issueEvents: z.array(IssueEvent).readonly().default([]),
  reactions: z.array(Reaction).readonly().default([]),
  checkRuns: z.array(CheckRun).readonly().default([]),
  statuses: z.array(CommitStatus).readonly().default([]),
})

export type State = Readonly<z.infer<typeof State>>
export type Grant = Readonly<z.infer<typeof Grant>>
export type Session = Readonly<z.infer<typeof Session>>
export type BranchProtection = Readonly<z.infer<typeof BranchProtection>>
export type Repository = Readonly<z.infer<typeof Repository>>
export type PullRequest = Readonly<z.infer<typeof PullRequest>>
export type Permissions = z.infer<typeof Permissions>
export type AppHook = z.infer<typeof AppHook>
export type App = Readonly<z.infer<typeof App>>
export type Installation = Readonly<z.infer<typeof Installation>>
export type InstallationToken = Readonly<z.infer<typeof InstallationToken>>
export type InstallationRequest = Readonly<z.infer<typeof InstallationRequest>>

/** A code host on which nothing has happened. */
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
  nextAppId: 1,
  nextInstallationId: 5_001,
  apps: [],
  installations: [],
  installationTokens: [],
  installationRequests: [],
  issues: [],
  labels: [],
  issueEvents: [],
  reactions: [],
  checkRuns: [],
  statuses: [],
}
