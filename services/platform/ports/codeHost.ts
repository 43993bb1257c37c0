/**
 * Where repositories live: GitHub, or the local code host that speaks the same REST subset. One adapter on `@octokit/rest` serves both.
 * Held by `tests/contracts/codeHost.spec.ts`.
 */
import type { ObservedPullRequest } from '#domain/task/commands.ts'
import type { RepositoryName } from './repositoryName.ts'
import type { CodeHostFeedback } from './codeHostFeedback.ts'
import type { CodeHostIssues } from './codeHostIssues.ts'

export type { RepositoryName }
import type { PermissionLevel } from '#domain/appPermissions.ts'

/** The account behind a user token. */
export interface HostAccount {
  /** GitHub's numeric id, as a decimal string: the identity. */
  readonly id: string
  readonly login: string
  readonly name: string | null
  readonly email: string | null
  readonly avatarUrl: string
  readonly publicRepos: number
}

export interface HostRepository {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly fullName: string
  readonly description: string | null
  readonly isPrivate: boolean
  readonly htmlUrl: string
  /** `null` for an empty repository that has none yet is not a case: hosts name the branch that will be. */
  readonly defaultBranch: string
  readonly language: string | null
  /** ISO 8601; `null` where the host does not say. */
  readonly createdAt: string | null
  /** Whether it is archived: then it is only read. */
  readonly isArchived: boolean
  /** Whether the holder of the token may push; `null` where the host does not say. */
  readonly mayPush: boolean | null
}

export interface HostOrganization {
  readonly login: string
  readonly avatarUrl: string
}

/** A person's tokens, short-lived where the host supports it. Times are ISO 8601; `null` never expires. */
export interface HostTokens {
  readonly accessToken: string
  readonly expiresAt: string | null
  readonly refreshToken: string | null
  readonly refreshExpiresAt: string | null
}

export interface HostPullRequest {
  readonly number: number
  readonly htmlUrl: string
  readonly state: 'open' | 'closed'
  readonly merged: boolean
  /** Its text in Markdown. */
  readonly body: string
}

/** A pull request to read: by the host's own id, which outlives a rename, or by its number where that is not known yet. */
export type PullRequestKey =
  | { readonly nodeId: string }
  | { readonly repository: RepositoryName; readonly number: number }

/** How a pull request stands, or why the host does not show it. Each result is independent of the rest of the batch. */
export type PullRequestReading =
  | {
      readonly kind: 'read'
      readonly pullRequest: ObservedPullRequest
      /** Its head is in another repository. */
      readonly isFork: boolean
      /** The repository that it is in, by the name that this has now. */
      readonly repository: RepositoryName
    }
  | { readonly kind: 'hidden'; readonly code: 'not_found' | 'forbidden' }

/** How many pull requests one request may read. */
export const pullRequestsAtOnce = 50

/** Why the host refused or failed. `message` can be shown to people; for `invalid` and `forbidden` it holds the host's own words. */
export class CodeHostFault extends Error {
  override readonly name = 'CodeHostFault'
  readonly kind: 'unauthorized' | 'forbidden' | 'not_found' | 'invalid' | 'rate_limited' | 'unavailable'
  /** How long to wait before the next request, in ms, where the host says so. */
  readonly retryAfterMs: number | undefined
  /** The host's own code for it, as `bad_refresh_token`, where it gives one. */
  readonly hostCode: string | undefined
  /** The permissions that the App lacks, where the host says so of a `forbidden`. */
  readonly missing: readonly (readonly [name: string, level: PermissionLevel])[] = []
  constructor(
    kind: CodeHostFault['kind'],
    message: string,
    cause?: unknown,
    retryAfterMs?: number,
    hostCode?: string,
  ) {
    super(message, { cause })
    this.kind = kind
    this.retryAfterMs = retryAfterMs
    this.hostCode = hostCode
  }

  /** Whether the same request may have another answer soon. */
  get isPassing(): boolean {
    return this.kind === 'unavailable' || this.kind === 'rate_limited'
  }
}

/** Writes; where the host does not say what came of that, what was written is looked up, and the fault stands where it is not there. */
export function writeOrFind<Written>(
  write: () => Promise<Written>,
  find: () => Promise<Written | undefined>,
): Promise<Written> {
  return write().catch(async (fault: unknown) => {
    const isUnclear = fault instanceof CodeHostFault && fault.kind === 'unavailable'
    const found = isUnclear ? await find().catch(() => undefined) : undefined
    if (found === undefined) throw fault
    return found
  })
}

/** The tip of a branch. */
export interface HostBranch {
  readonly commit: string
  /** The files of that commit, as git names them. */
  readonly tree: string
}

export interface CodeHost extends CodeHostFeedback, CodeHostIssues {
  /**
   * The host's page on which a person authorizes us. Throws `setup_required` while there is no App, as all of sign-in does. `origin` is where the person's browser reaches us, so that a loopback name stays the
   * one they used; `codeChallenge` is PKCE's S256; with `anotherAccount` the host lets them choose, also where they are signed in.
   */
  authorizeUrl(request: {
    state: string
    redirectUri: string
    codeChallenge: string
    origin: string
    anotherAccount?: boolean
  }): Promise<string>
  exchangeCode(request: { code: string; redirectUri: string; codeVerifier: string }): Promise<HostTokens>
  refresh(refreshToken: string): Promise<HostTokens>
  /** Ends the grant; a token the host no longer knows is fine. */
  revoke(accessToken: string): Promise<void>
  account(accessToken: string): Promise<HostAccount>
  /** The scopes of a token, as `repo`; `null` where the host lists none, as for those with finer rights. */
  tokenScopes(accessToken: string): Promise<readonly string[] | null>
  /** All repositories the person can reach, most recently updated first, paged by 100 up to 1,000. */
  repositories(accessToken: string): Promise<readonly HostRepository[]>
  organizations(accessToken: string): Promise<readonly HostOrganization[]>
  /**
   * The organisation's id, when the person of the token is in it, and in its team where one is named (by its slug); `undefined` when they
   * are not, have only been invited, or the host shows them nothing of it. `login` is theirs.
   */
  membership(
    accessToken: string,
    asked: { readonly organization: string; readonly team: string | null; readonly login: string },
  ): Promise<{ readonly organizationId: string } | undefined>
  repository(accessToken: string, repository: RepositoryName): Promise<HostRepository>
  /**
   * By the host's number, which stays when the repository is renamed or moved. With the tag of an earlier answer to the same token,
   * `unchanged` where it is as it was.
   */
  repositoryById(
    accessToken: string,
    id: string,
    etag?: string,
  ): Promise<{ readonly repository: HostRepository; readonly etag: string | null } | 'unchanged'>
  /** Branch names, the default branch first; empty for an empty repository. */
  branches(accessToken: string, repository: RepositoryName): Promise<readonly string[]>
  /** The tip of the branch; `undefined` when there is no such branch. */
  branch(accessToken: string, repository: RepositoryName, branch: string): Promise<HostBranch | undefined>
  /** Whether rules let the branch take only commits with verified signatures. Protections of the older kind are not among them. */
  takesOnlySigned(accessToken: string, repository: RepositoryName, branch: string): Promise<boolean>
  /** Deletes the branch; one that is gone is fine. */
  deleteBranch(accessToken: string, repository: RepositoryName, branch: string): Promise<void>
  createRepository(
    accessToken: string,
    request: { name: string; description: string; isPrivate: boolean },
  ): Promise<HostRepository>
  /** The address and the header git needs to reach the repository; the header is a secret and never goes into an address, a file or argv. */
  gitAccess(
    accessToken: string,
    repository: RepositoryName,
  ): Promise<{ readonly url: string; readonly authorization: string }>
  /** The open pull request from `head` to `base`, if there is one. */
  findPullRequest(
    accessToken: string,
    repository: RepositoryName,
    request: { head: string; base: string },
  ): Promise<HostPullRequest | undefined>
  /** Whether an open pull request comes from the branch, or would be merged into it. */
  isInOpenPullRequest(accessToken: string, repository: RepositoryName, branch: string): Promise<boolean>
  openPullRequest(
    accessToken: string,
    repository: RepositoryName,
    request: { head: string; base: string; title: string; body: string; draft: boolean },
  ): Promise<HostPullRequest>
  /**
   * How pull requests stand, in the order in which they are asked for: at most `pullRequestsAtOnce`, in one request. Throws where none could
   * be read.
   */
  pullRequestStates(
    accessToken: string,
    asked: readonly PullRequestKey[],
  ): Promise<readonly PullRequestReading[]>
  updatePullRequest(
    accessToken: string,
    repository: RepositoryName,
    number: number,
    request: { title?: string; body?: string },
  ): Promise<HostPullRequest>
  /** `owner` and `name` of a repository's page on this host, or `undefined` when the address is not one. Loopback names count as one host. */
  parseRepositoryUrl(url: string): RepositoryName | undefined
  /** Says whose a token is: what one holder spends counts together, and waits in one line. */
  nameHolder(accessToken: string, holder: string): void
  /**
   * What the host last said is left to the token's holder, of the limit that it last counted; nothing for as long as it asked them to wait.
   * `resetsAt` in ms since the epoch.
   */
  allowance(
    accessToken: string,
  ): { readonly limit: number; readonly remaining: number; readonly resetsAt: number } | undefined
  /** How long the host asked the token's holder to wait before the next request, in ms from now; 0 where it did not. */
  waitMs(accessToken: string): number
  /**
   * Throws CodeHostFault `rate_limited` while the host asks the token's holder to wait. All calls of this port keep such a wait by themselves;
   * git does not know of it.
   */
  throwIfRateLimited(accessToken: string): void
  /** Git was refused for a limit: the token's holder waits for a minute. Answers what is said of it. */
  recordGitRateLimit(accessToken: string): CodeHostFault
  /** The token that this server was given in place of an App: its owner is the one person who signs in. */
  readonly ownToken?: string
  /** Where a person installs or manages the provider's app. Throws `setup_required`. */
  appUrls(): Promise<{ readonly install: string; readonly manage: string }>
}
