/**
 * The code host, which has the repositories: GitHub, or the local code host that supports the same part of its REST API. One adapter with
 * `@octokit/rest` serves both. Tested by `tests/contracts/codeHost.spec.ts`.
 */
import { z } from 'zod'
import type { ObservedPullRequest } from '#domain/task/commands.ts'
import type { RepositoryName } from './repositoryName.ts'
import type { CodeHostFeedback } from './codeHostFeedback.ts'
import type { CodeHostIssues } from './codeHostIssues.ts'

export type { RepositoryName }
import type { PermissionLevel } from '#domain/appPermissions.ts'

/** The account behind a user token. */
export interface HostAccount {
  /** GitHub's numeric id as a decimal string, which identifies the account. */
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
  /** Never `null`: for an empty repository, code hosts return the name that its first branch will have. */
  readonly defaultBranch: string
  readonly language: string | null
  /** When the repository was created, in the format of ISO 8601; `null` when the host does not say. */
  readonly createdAt: string | null
  /** Whether the repository is archived, and therefore read-only. */
  readonly isArchived: boolean
  /** Whether the token's holder may push; `null` when the host does not say. */
  readonly mayPush: boolean | null
}

export interface HostOrganization {
  readonly login: string
  readonly avatarUrl: string
}

/** A person's tokens, short-lived if the host supports that. Times are ISO 8601; `null` when the token never expires or does not exist. */
export const HostTokens = z.object({
  accessToken: z.string(),
  expiresAt: z.string().nullable(),
  refreshToken: z.string().nullable(),
  refreshExpiresAt: z.string().nullable(),
})
export type HostTokens = Readonly<z.infer<typeof HostTokens>>

export interface HostPullRequest {
  readonly number: number
  readonly htmlUrl: string
  readonly state: 'open' | 'closed'
  readonly merged: boolean
  readonly body: string
}

/** The pull request to read: by the host's id, which survives renames, or by number while the id is unknown. */
export type PullRequestKey =
  | { readonly nodeId: string }
  | { readonly repository: RepositoryName; readonly number: number }

/** The state of a pull request, or why the host does not show it. Each result is independent of the others in the batch. */
export type PullRequestReading =
  | {
      readonly kind: 'read'
      readonly pullRequest: ObservedPullRequest
      readonly isFork: boolean
      /** The pull request's repository under its current name. */
      readonly repository: RepositoryName
    }
  | { readonly kind: 'hidden'; readonly code: 'not_found' | 'forbidden' }

export const pullRequestsAtOnce = 50

/** Why the host refused or failed. `message` can be shown to people, and may contain the host's own text. */
export class CodeHostFault extends Error {
  override readonly name = 'CodeHostFault'
  readonly kind: 'unauthorized' | 'forbidden' | 'not_found' | 'invalid' | 'rate_limited' | 'unavailable'
  /** For `rate_limited`: how long to wait before the next request, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** For a refused OAuth request for tokens: the host's error code, such as `bad_refresh_token`. */
  readonly hostCode: string | undefined
  /** The permissions that the App or the token lacks, if the fault is `forbidden` and the host names them; otherwise empty. */
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

  /** Whether the same request may soon succeed. */
  get isPassing(): boolean {
    return this.kind === 'unavailable' || this.kind === 'rate_limited'
  }
}

/** Runs `write`. If its outcome is unknown, returns what `find` finds instead. If `find` finds nothing or fails, throws the fault of `write`. */
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

export interface HostBranch {
  readonly commit: string
  /** The object id of the commit's git tree. */
  readonly tree: string
}

export interface CodeHost extends CodeHostFeedback, CodeHostIssues {
  /**
   * The address of the host's page on which a person authorizes us. Like every sign-in call, it throws `setup_required` while there is no App.
   * `origin` is our address in the person's browser: if the host and `origin` are both on loopback, the page has the loopback name of `origin`.
   * `codeChallenge` is PKCE's S256; `anotherAccount` lets them choose an account even if they are signed in.
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
  /**
   * Withdraws the person's authorization, so that all their tokens become invalid. Does nothing when there is an `ownToken`, or when the host no
   * longer knows the token.
   */
  revoke(accessToken: string): Promise<void>
  account(accessToken: string): Promise<HostAccount>
  /** The scopes of a token, such as `repo`; `null` when the host does not list scopes, as for fine-grained tokens. */
  tokenScopes(accessToken: string): Promise<readonly string[] | null>
  /** The repositories that the person can access, most recently updated first, at most 1,000; read in pages of 100. */
  repositories(accessToken: string): Promise<readonly HostRepository[]>
  organizations(accessToken: string): Promise<readonly HostOrganization[]>
  /**
   * The organization's id if the token's owner is a member of the organization and, if `team` (a slug) is not `null`, of that team. `undefined` when
   * they are not, were only invited, or the host does not show the membership. `login` is the owner's login.
   */
  membership(
    accessToken: string,
    place: { readonly organization: string; readonly team: string | null; readonly login: string },
  ): Promise<{ readonly organizationId: string } | undefined>
  repository(accessToken: string, repository: RepositoryName): Promise<HostRepository>
  /**
   * Reads a repository by the host's numeric id, which stays the same when the repository is renamed or transferred. Answers `unchanged` if the
   * repository still has the given ETag, which must be from an answer to the same token.
   */
  repositoryById(
    accessToken: string,
    id: string,
    etag?: string,
  ): Promise<{ readonly repository: HostRepository; readonly etag: string | null } | 'unchanged'>
  /** Branch names: the default branch if it exists, and then at most 1,000 others. Empty for an empty repository. */
  branches(accessToken: string, repository: RepositoryName): Promise<readonly string[]>
  /** The last commit of the branch; `undefined` when the branch does not exist. */
  branch(accessToken: string, repository: RepositoryName, branch: string): Promise<HostBranch | undefined>
  /** Whether rulesets require signed commits on the branch. Classic branch protection is not checked. */
  takesOnlySigned(accessToken: string, repository: RepositoryName, branch: string): Promise<boolean>
  /** Deletes the branch. Does nothing when it does not exist. */
  deleteBranch(accessToken: string, repository: RepositoryName, branch: string): Promise<void>
  createRepository(
    accessToken: string,
    request: { name: string; description: string; isPrivate: boolean },
  ): Promise<HostRepository>
  /**
   * The address and the header that git needs for access to the repository. The header is a secret and must never be in an address, a file or argv.
   */
  gitAccess(
    accessToken: string,
    repository: RepositoryName,
  ): Promise<{ readonly url: string; readonly authorization: string }>
  /** The open pull request from `head` to `base`, or else the one with this number if it is open and from `head`, whatever its base is now. */
  findPullRequest(
    accessToken: string,
    repository: RepositoryName,
    request: { head: string; base: string; number?: number | undefined },
  ): Promise<HostPullRequest | undefined>
  /** Whether the branch is the head or the base of an open pull request. */
  isInOpenPullRequest(accessToken: string, repository: RepositoryName, branch: string): Promise<boolean>
  openPullRequest(
    accessToken: string,
    repository: RepositoryName,
    request: { head: string; base: string; title: string; body: string; draft: boolean },
  ): Promise<HostPullRequest>
  /** The states of at most `pullRequestsAtOnce` pull requests, in the order of the keys. Throws when the host refuses the whole request. */
  pullRequestStates(
    accessToken: string,
    keys: readonly PullRequestKey[],
  ): Promise<readonly PullRequestReading[]>
  updatePullRequest(
    accessToken: string,
    repository: RepositoryName,
    number: number,
    request: { title?: string; body?: string },
  ): Promise<HostPullRequest>
  /** The repository whose page or git remote on this host has this address; `undefined` for any other address. Loopback names count as one host. */
  parseRepositoryUrl(url: string): RepositoryName | undefined
  /** Sets the holder of a token. Rate limits and waits are tracked per holder. */
  nameHolder(accessToken: string, holder: string): void
  /**
   * The rate limit of the token's holder, as last reported; `undefined` before the first report. While the host asks the holder to wait, `remaining`
   * is 0. `resetsAt` is in ms since the epoch.
   */
  allowance(
    accessToken: string,
  ): { readonly limit: number; readonly remaining: number; readonly resetsAt: number } | undefined
  /** How many ms the token's holder has to wait because the host asked for it; 0 when it did not. */
  waitMs(accessToken: string): number
  /**
   * Throws CodeHostFault `rate_limited` while the host asks the token's holder to wait. Call this before running git, which does not know about the
   * wait. An exhausted limit of the API does not count, since it does not affect git.
   */
  throwIfRateLimited(accessToken: string): void
  /** Records that git was refused because of a rate limit: the token's holder then waits for a minute. Returns the fault to report. */
  recordGitRateLimit(accessToken: string): CodeHostFault
  /** The token that this server uses instead of an App. Only the token's owner can sign in. */
  readonly ownToken?: string
  /** The pages on which a person installs and manages the App. Throws `setup_required` while there is no App. */
  appUrls(): Promise<{ readonly install: string; readonly manage: string }>
}
