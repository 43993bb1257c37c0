/** The state of the stand-in for GitHub in addition to the code host's own: Apps, checks, protected branches and former names. */
import { z } from 'zod'
import { CheckRun, CommitStatus } from './checks/records.ts'

const Time = z.iso.datetime()

/** `read`, `write` or `admin` by permission: `contents`, `pull_requests` and the others of GitHub. */
const Permissions = z.record(z.string(), z.enum(['read', 'write', 'admin'])).readonly()

/** The address to which events for an App are sent. */
const AppHook = z.object({ url: z.string(), active: z.boolean(), secret: z.string().nullable() }).readonly()

/** A GitHub App that is registered on this host. */
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
  /** The public key in PEM; only the App has the private key. `null` until the App has fetched the key. */
  publicKey: z.string().nullable(),
  hook: AppHook.nullable(),
  permissions: Permissions,
  events: z.array(z.string()).readonly(),
  /** Whether accounts other than its owner's can install the App. */
  isPublic: z.boolean(),
  callbackUrls: z.array(z.string()).readonly(),
  setupUrl: z.string().nullable(),
  setupOnUpdate: z.boolean(),
  requestsOAuthOnInstall: z.boolean(),
  /** Whether the App is in the configuration of this host, and is updated from it at each start. */
  isConfigured: z.boolean(),
  createdAt: Time,
  updatedAt: Time,
})

/** An installation of an App on repositories of an account. */
const Installation = z.object({
  id: z.int().positive(),
  appId: z.int().positive(),
  account: z.string(),
  /** `null` means all repositories of the account, including future ones. */
  repositoryIds: z.array(z.int()).readonly().nullable(),
  /** The permissions that the account granted; the App may have requested more since. */
  permissions: Permissions,
  events: z.array(z.string()).readonly(),
  createdAt: Time,
  updatedAt: Time,
  suspended: z.object({ at: Time, by: z.string().nullable() }).readonly().nullable(),
})

/** A token of an installation, with the `repositoryIds` and `permissions` for which it was made. */
const InstallationToken = z.object({
  hash: z.string(),
  installationId: z.int().positive(),
  repositoryIds: z.array(z.int()).readonly().nullable(),
  permissions: Permissions,
  expiresAt: Time,
})

/** A request by a member to the owners of an organisation to install an App. */
const InstallationRequest = z.object({
  id: z.int().positive(),
  appId: z.int().positive(),
  account: z.string(),
  requester: z.string(),
  createdAt: Time,
})

/** What must not be done to a branch by pushing. */
const BranchProtection = z.object({
  repositoryId: z.int().positive(),
  branch: z.string(),
  /** How many approvals a pull request needs; with `null`, pushing is allowed too. */
  approvals: z.int().nonnegative().nullable(),
  signatures: z.boolean(),
  forcePushes: z.boolean(),
})

/** A name that a repository once had; it leads to the repository until another one takes the name. */
const FormerName = z.object({ repositoryId: z.int().positive(), owner: z.string(), name: z.string() })

export const GitHubState = z.object({
  version: z.literal(1),
  /** The next id for a report about a commit. */
  nextReportId: z.int().positive(),
  nextAppId: z.int().positive(),
  nextInstallationId: z.int().positive(),
  apps: z.array(App).readonly(),
  installations: z.array(Installation).readonly(),
  installationTokens: z.array(InstallationToken).readonly(),
  installationRequests: z.array(InstallationRequest).readonly(),
  checkRuns: z.array(CheckRun).readonly(),
  statuses: z.array(CommitStatus).readonly(),
  protections: z.array(BranchProtection).readonly(),
  formerNames: z.array(FormerName).readonly(),
})

export type GitHubState = Readonly<z.infer<typeof GitHubState>>
export type BranchProtection = Readonly<z.infer<typeof BranchProtection>>
export type Permissions = z.infer<typeof Permissions>
export type App = Readonly<z.infer<typeof App>>
export type Installation = Readonly<z.infer<typeof Installation>>
export type InstallationToken = Readonly<z.infer<typeof InstallationToken>>

export const emptyGitHub: GitHubState = {
  version: 1,
  nextReportId: 1,
  nextAppId: 1,
  nextInstallationId: 5_001,
  apps: [],
  installations: [],
  installationTokens: [],
  installationRequests: [],
  checkRuns: [],
  statuses: [],
  protections: [],
  formerNames: [],
}
