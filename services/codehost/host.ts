/** The parts of the code host that its routes use, and the extension with which tests turn the code host into a stand-in for GitHub. */
import type { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Clock } from '#platform/ports/clock.ts'
import type { Html } from '#platform/http/html.ts'
import type { Git, GitOptions } from './git/runGit.ts'
import type { Issues } from './issues/issues.ts'
import type { PullRequests } from './pulls/pullRequests.ts'
import type { Checks, ReviewDecision } from './pulls/mergeState.ts'
import type { Repositories } from './repositories/repositories.ts'
import type { Comments } from './reviews/comments.ts'
import type { Reviews } from './reviews/reviews.ts'
import type { Account } from './state/accounts.ts'
import type { Caller } from './state/actors.ts'
import type { Codes } from './state/authorizationCodes.ts'
import type { HostEvent } from './state/events.ts'
import type { PullRequest, Repository } from './state/stateSchema.ts'
import type { Store } from './state/store.ts'

export interface Host {
  /** The address of the code host for links, when there is no request from which `originOf` can take it. */
  readonly url: string
  readonly dataDir: string
  readonly store: Store
  readonly git: Git
  readonly repositories: Repositories
  readonly pulls: PullRequests
  readonly reviews: Reviews
  readonly comments: Comments
  readonly issues: Issues
  readonly codes: Codes
  /** The OAuth client for which this code host signs people in. */
  readonly client: OAuthClient
  readonly clock: Clock
  readonly extension: Extension
  readonly tell: (event: HostEvent) => void
  /** Writes a line to the log. The line must not contain a secret. */
  readonly log: (line: string) => void
}

/** A program that people allow to act on their behalf. */
export interface OAuthClient {
  readonly clientId: string
  readonly name: string
  /** The addresses to which people may be redirected, in addition to http addresses on loopback. */
  readonly callbackUrls: readonly string[]
  /** Whether `secret` is the client's secret. The comparison takes constant time. */
  hasSecret(secret: string): boolean
}

/** The functions that tests add to the code host to make it a stand-in for GitHub. Without a function, the code host behaves as usual. */
export interface Extension {
  /** Middleware that runs before requests of git are answered and before bodies are read. */
  readonly before?: readonly Middleware[]
  /** Routes that are tried before the code host's own routes. The body was already read. */
  readonly routers?: readonly Router[]
  /** The caller to whom a token belongs; `undefined` for an invalid token. May throw Refusal. */
  readonly callerOf?: (token: string) => Caller | undefined
  readonly clientWith?: (clientId: string) => OAuthClient | undefined
  /** Called when an OAuth client has ended its access to a person's account. */
  readonly accessEnded?: (clientId: string, person: Account) => void
  /** Called for each event at the code host. */
  readonly tell?: (event: HostEvent) => void
  /** Checks a request of git or Git LFS, and returns the environment and settings with which git runs. Throws Refusal. */
  readonly guardGit?: (
    ctx: Context,
    repository: Repository,
    access: 'read' | 'write',
  ) => Pick<GitOptions, 'env' | 'settings'>
  /** Checks a GraphQL mutation of a pull request, before it is carried out. Throws Refusal. */
  readonly guardMutation?: (ctx: Context, repository: Repository) => void
  readonly reviewDecision?: (repository: Repository, pull: PullRequest) => ReviewDecision | null
  readonly isProtected?: (repository: Repository, branch: string) => boolean
  /** The combined result of all checks of a commit; `null` when the commit has no checks. */
  readonly checks?: (repository: Repository, sha: string) => Checks | null
  /** GraphQL's `statusCheckRollup` of a commit; `null` when the commit has no checks. */
  readonly checkRollup?: (ctx: Context, repository: Repository, sha: string) => object | null
  /** HTML that is added to the page of a pull request. */
  readonly pullFacts?: (repository: Repository, pull: PullRequest) => Html
  /** The app with this id in the form of the REST API; `null` for a deleted app. */
  readonly appAnswer?: (origin: string, id: number) => object | null
}
