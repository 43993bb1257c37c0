/** What the routes of the code host work with, and the one place where it can be extended. */
import type { Router } from '@koa/router'
import type { Context, Middleware } from 'koa'
import type { Clock } from '#platform/ports/clock.ts'
import type { Html } from '#platform/http/html.ts'
import type { Git, GitOptions } from './git/run.ts'
import type { Issues } from './issues/issues.ts'
import type { PullRequests } from './pulls/pullRequests.ts'
import type { Checks, ReviewDecision } from './pulls/standing.ts'
import type { Repositories } from './repositories/repositories.ts'
import type { Comments } from './reviews/comments.ts'
import type { Reviews } from './reviews/reviews.ts'
import type { Account } from './state/accounts.ts'
import type { Caller } from './state/actors.ts'
import type { Codes } from './state/codes.ts'
import type { HostEvent } from './state/events.ts'
import type { PullRequest, Repository } from './state/state.ts'
import type { Store } from './state/store.ts'

export interface Host {
  /** Where browsers find the code host, when a request does not say so itself. */
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
  /** The program that people sign in to. */
  readonly client: OAuthClient
  readonly clock: Clock
  readonly extension: Extension
  readonly tell: (event: HostEvent) => void
  /** Takes one line without a secret in it. */
  readonly log: (line: string) => void
}

/** A program that people let act for them. */
export interface OAuthClient {
  readonly clientId: string
  readonly name: string
  /** Addresses that a person may be sent back to, besides http ones on loopback. */
  readonly callbackUrls: readonly string[]
  /** Takes the same time whatever the secret is. */
  hasSecret(secret: string): boolean
}

/** What tests add to the code host to make it a stand-in for GitHub. Whatever is left out is as the code host alone has it. */
export interface Extension {
  /** Run for every request, before git and before bodies are read. */
  readonly before?: readonly Middleware[]
  /** Asked with the body read, before the code host's own routes. */
  readonly routers?: readonly Router[]
  /** Who a token stands for; `undefined` for one that is not valid. May throw Refusal. */
  readonly callerOf?: (token: string) => Caller | undefined
  readonly clientWith?: (clientId: string) => OAuthClient | undefined
  /** Told when a person's access was ended by the client itself. */
  readonly accessEnded?: (clientId: string, person: Account) => void
  /** Told of everything that happens. */
  readonly tell?: (event: HostEvent) => void
  /** Checks a request of git, and answers with what git is to be run with. Throws Refusal. */
  readonly guardGit?: (
    ctx: Context,
    repository: Repository,
    access: 'read' | 'write',
  ) => Pick<GitOptions, 'env' | 'settings'>
  /** Checks a GraphQL mutation of a pull request. Throws Refusal. */
  readonly guardMutation?: (ctx: Context, repository: Repository) => void
  readonly reviewDecision?: (repository: Repository, pull: PullRequest) => ReviewDecision | null
  readonly isProtected?: (repository: Repository, branch: string) => boolean
  /** What all checks of a commit say together; `null` where there are none. */
  readonly checks?: (repository: Repository, sha: string) => Checks | null
  /** GraphQL's `statusCheckRollup`; `null` where there are no checks. */
  readonly checkRollup?: (ctx: Context, repository: Repository, sha: string) => object | null
  /** Shown on the page of a pull request. */
  readonly pullFacts?: (repository: Repository, pull: PullRequest) => Html
  /** The app that something was done with, as the REST API answers it; `null` for one that is gone. */
  readonly appAnswer?: (origin: string, id: number) => object | null
}
