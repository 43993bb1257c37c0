/** What the routes of the code host work with, and the extension by which tests add to the code host. */
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
  /** The address of the code host for links, when the request does not tell it. */
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
  /** The OAuth client for which people sign in. */
  readonly client: OAuthClient
  readonly clock: Clock
  readonly extension: Extension
  readonly tell: (event: HostEvent) => void
  /** Writes a line to the log. The line must not contain a secret. */
  readonly log: (line: string) => void
}

/** A program that people allow to act for them. */
export interface OAuthClient {
  readonly clientId: string
  readonly name: string
  /** Addresses that people may be redirected to, in addition to http addresses on loopback. */
  readonly callbackUrls: readonly string[]
  /** Whether this is the client's secret; compares in constant time. */
  hasSecret(secret: string): boolean
}

/** What tests add to the code host to make it a stand-in for GitHub. Parts that are left out behave as in the code host alone. */
export interface Extension {
  /** Middleware that runs for every request, before git and before bodies are read. */
  readonly before?: readonly Middleware[]
  /** Routes that are tried before the code host's own, after the body was read. */
  readonly routers?: readonly Router[]
  /** The account and rights behind a token; `undefined` for an invalid token. May throw Refusal. */
  readonly callerOf?: (token: string) => Caller | undefined
  readonly clientWith?: (clientId: string) => OAuthClient | undefined
  /** Called when the client itself has ended a person's access. */
  readonly accessEnded?: (clientId: string, person: Account) => void
  /** Called for everything that happens at the code host. */
  readonly tell?: (event: HostEvent) => void
  /** Checks a request of git, and returns the environment and settings to run git with. Throws Refusal. */
  readonly guardGit?: (
    ctx: Context,
    repository: Repository,
    access: 'read' | 'write',
  ) => Pick<GitOptions, 'env' | 'settings'>
  /** Checks a GraphQL mutation of a pull request. Throws Refusal. */
  readonly guardMutation?: (ctx: Context, repository: Repository) => void
  readonly reviewDecision?: (repository: Repository, pull: PullRequest) => ReviewDecision | null
  readonly isProtected?: (repository: Repository, branch: string) => boolean
  /** The combined result of all checks of a commit; `null` when there are none. */
  readonly checks?: (repository: Repository, sha: string) => Checks | null
  /** GraphQL's `statusCheckRollup`; `null` when there are no checks. */
  readonly checkRollup?: (ctx: Context, repository: Repository, sha: string) => object | null
  /** HTML that is added to the page of a pull request. */
  readonly pullFacts?: (repository: Repository, pull: PullRequest) => Html
  /** The app through which something was done, in the form of the REST API; `null` for a deleted app. */
  readonly appAnswer?: (origin: string, id: number) => object | null
}
