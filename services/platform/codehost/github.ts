/** Implements the port `CodeHost` for GitHub, GitHub Enterprise and the local code host. */
import { z } from 'zod'
import { Fault } from '#domain/kernel/errors.ts'
import type { Clock } from '#platform/ports/clock.ts'
import {
  CodeHostFault,
  type CodeHost,
  type HostPullRequest,
  type HostRepository,
  type HostTokens,
} from '#platform/ports/codeHost.ts'
import type { AppRegistration, CurrentApp } from '#platform/ports/codeHostApp.ts'
import { checkedName, onServer, repositoryOf, serverForBrowser, trimmed } from './address.ts'
import {
  Account,
  Branch,
  BranchWithCommit,
  Membership,
  Organization,
  PullRequest,
  Repository,
  Rule,
  TeamMembership,
  TokenAnswer,
} from './responseSchemas.ts'
import { feedbackCalls } from './feedback.ts'
import { issueCalls } from './issues.ts'
import { pullRequestReader } from './graphql.ts'
import { pages } from './pagedLists.ts'
import { ask, askIfChanged, callsOf, ifHidden, limited, type Requests, type TokenCalls } from './request.ts'

export interface GitHubOptions {
  /** The base URL of pages and git remotes, such as `https://github.com`. */
  readonly serverUrl: string
  readonly requests: Requests
  readonly app: CurrentApp
  readonly clock?: Clock
  /** A token that is used instead of an App. */
  readonly ownToken?: string | undefined
}

interface Host extends TokenCalls {
  readonly options: GitHubOptions
  readonly serverUrl: string
  readonly clock: Pick<Clock, 'now'>
  /** Returns the App. Throws `setup_required` when there is none. */
  app(): Promise<AppRegistration>
}

export function githubCodeHost(options: GitHubOptions): CodeHost {
  const serverUrl = trimmed(options.serverUrl)
  const host: Host = {
    options,
    serverUrl,
    clock: options.clock ?? { now: () => new Date() },
    ...callsOf(options.requests.octokit),
    app: async () => {
      const app = await options.app()
      if (!app) throw new Fault('setup_required')
      return app
    },
  }
  return {
    ...signInCalls(host),
    ...accountCalls(host),
    ...repositoryCalls(host),
    ...branchCalls(host),
    ...pullRequestCalls(host),
    ...feedbackCalls({ ...host, appSlug: async () => (await options.app())?.slug }),
    ...issueCalls({ ...host, app: options.app }),
    appUrls: async () => {
      const { htmlUrl, slug } = await host.app()
      const page = onServer(htmlUrl ?? `${serverUrl}/apps/${slug}`, serverUrl)
      return { install: `${page}/installations/new`, manage: page }
    },
    nameHolder: options.requests.nameHolder,
    allowance: options.requests.allowance,
    waitMs: (accessToken) => options.requests.waitMs(accessToken),
    throwIfRateLimited(accessToken) {
      const waitMs = options.requests.waitMs(accessToken, { ofGit: true })
      if (waitMs > 0) throw limited(waitMs)
    },
    recordGitRateLimit(accessToken) {
      options.requests.recordWait(accessToken)
      return limited(options.requests.waitMs(accessToken))
    },
    parseRepositoryUrl: (url) => repositoryOf(url, serverUrl),
    ...(options.ownToken === undefined ? {} : { ownToken: options.ownToken }),
  }
}

/** The calls of OAuth: https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app */
function signInCalls(host: Host): Pick<CodeHost, 'authorizeUrl' | 'exchangeCode' | 'refresh' | 'revoke'> {
  const { options, serverUrl, clock } = host
  const credentials = async () => {
    const { clientId, clientSecret } = await host.app()
    return { client_id: clientId, client_secret: clientSecret }
  }
  return {
    authorizeUrl: async ({ state, redirectUri, codeChallenge, origin, anotherAccount = false }) => {
      const { clientId } = await host.app()
      const url = new URL(`${serverForBrowser(serverUrl, origin)}/login/oauth/authorize`)
      url.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        state,
        code_challenge: codeChallenge,
        code_challenge_method: 'S256',
        ...(anotherAccount ? { prompt: 'select_account' } : {}),
      }).toString()
      return url.toString()
    },
    exchangeCode: async ({ code, redirectUri, codeVerifier }) => {
      const form = { ...(await credentials()), code, redirect_uri: redirectUri, code_verifier: codeVerifier }
      return tokensFrom(await options.requests.postForm(`${serverUrl}/login/oauth/access_token`, form), clock)
    },
    refresh: async (refreshToken) => {
      const form = { ...(await credentials()), grant_type: 'refresh_token', refresh_token: refreshToken }
      return tokensFrom(await options.requests.postForm(`${serverUrl}/login/oauth/access_token`, form), clock)
    },
    revoke: async (accessToken) => {
      // A personal access token can only be revoked by its owner, so it is not revoked here.
      if (options.ownToken !== undefined) return
      const { clientId, clientSecret } = await host.app()
      const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
      const ended = ask(z.unknown(), () =>
        options.requests.octokit(undefined).rest.apps.deleteAuthorization({
          client_id: clientId,
          access_token: accessToken,
          headers: { authorization: `basic ${basic}` },
        }),
      )
      await ended.catch((error: unknown) => {
        const isUnknown = error instanceof CodeHostFault && ['not_found', 'invalid'].includes(error.kind)
        if (!isUnknown) throw error
      })
    },
  }
}

function accountCalls(
  host: Host,
): Pick<CodeHost, 'account' | 'tokenScopes' | 'repositories' | 'organizations' | 'membership'> {
  const { octokit, serverUrl } = host
  return {
    account: async (accessToken) => {
      const answer = await ask(Account, () => octokit(accessToken).rest.users.getAuthenticated())
      return {
        id: String(answer.id),
        login: answer.login,
        name: answer.name ?? null,
        email: answer.email ?? null,
        avatarUrl: onServer(answer.avatar_url, serverUrl),
        publicRepos: answer.public_repos,
      }
    },
    tokenScopes: async (accessToken) => {
      let listed: string | undefined
      await ask(Account, async () => {
        const answer = await octokit(accessToken).rest.users.getAuthenticated()
        listed = answer.headers['x-oauth-scopes']
        return answer
      })
      return listed?.split(/[,\s]+/).filter((scope) => scope !== '') ?? null
    },
    repositories: async (accessToken) => {
      const { repos } = octokit(accessToken).rest
      const found = await pages(Repository, (page) =>
        repos.listForAuthenticatedUser({ type: 'all', sort: 'updated', direction: 'desc', ...page }),
      )
      // The list is deduplicated, since a repository that was updated between two pages is in both.
      return [
        ...new Map(found.items.map((answer) => [answer.id, repositoryFrom(answer, serverUrl)])).values(),
      ]
    },
    organizations: async (accessToken) => {
      const { orgs } = octokit(accessToken).rest
      const found = await pages(Organization, (page) => orgs.listForAuthenticatedUser(page))
      return found.items.map((answer) => ({
        login: answer.login,
        avatarUrl: onServer(answer.avatar_url, serverUrl),
      }))
    },
    membership: async (accessToken, { organization: org, team, login }) => {
      const { orgs, teams } = octokit(accessToken).rest
      const member = await ask(Membership, () => orgs.getMembershipForAuthenticatedUser({ org })).catch(
        ifHidden(undefined),
      )
      if (member?.state !== 'active') return undefined
      const organizationId = String(member.organization.id)
      if (team === null) return { organizationId }
      const person = { org, team_slug: team, username: login }
      const inTeam = await ask(TeamMembership, () => teams.getMembershipForUserInOrg(person)).catch(
        ifHidden(undefined),
      )
      return inTeam?.state === 'active' ? { organizationId } : undefined
    },
  }
}

function repositoryCalls(
  host: Host,
): Pick<CodeHost, 'repository' | 'repositoryById' | 'createRepository' | 'gitAccess'> {
  const { octokit, on, serverUrl } = host
  return {
    repository: async (accessToken, repository) => {
      const { rest, at } = on(accessToken, repository)
      return repositoryFrom(await ask(Repository, () => rest.repos.get(at)), serverUrl)
    },
    repositoryById: (accessToken, id, etag) => repositoryById(host, accessToken, id, etag),
    createRepository: async (accessToken, { isPrivate, ...named }) => {
      const { repos } = octokit(accessToken).rest
      const wanted = { ...named, private: isPrivate }
      return repositoryFrom(await ask(Repository, () => repos.createForAuthenticatedUser(wanted)), serverUrl)
    },
    gitAccess: async (accessToken, repository) => {
      const { owner, name } = checkedName(repository)
      return {
        url: `${serverUrl}/${owner}/${name}.git`,
        authorization: `Basic ${Buffer.from(`x-access-token:${accessToken}`).toString('base64')}`,
      }
    },
  }
}

function branchCalls({
  on,
}: Host): Pick<CodeHost, 'branches' | 'branch' | 'takesOnlySigned' | 'deleteBranch'> {
  return {
    branches: async (accessToken, repository) => {
      const { rest, at } = on(accessToken, repository)
      const [{ default_branch: first }, found] = await Promise.all([
        ask(Repository, () => rest.repos.get(at)),
        pages(Branch, (page) => rest.repos.listBranches({ ...at, ...page })),
      ])
      const names = found.items.map((branch) => branch.name)
      const others = names.filter((name) => name !== first)
      // The default branch comes first. A list that was cut may lack this branch, so it is added then.
      return names.includes(first) || found.cut ? [first, ...others] : others
    },
    branch: async (accessToken, repository, branch) => {
      const { rest, at } = on(accessToken, repository)
      const found = await ask(BranchWithCommit, () => rest.repos.getBranch({ ...at, branch })).catch(
        async (fault: unknown) => {
          if (!(fault instanceof CodeHostFault && fault.kind === 'not_found')) throw fault
          // The 404 may be about the branch or about the whole repository, so the repository is requested too.
          await ask(Repository, () => rest.repos.get(at))
          return undefined
        },
      )
      // For a renamed branch, GitHub redirects to the branch with the new name, which is not the requested branch.
      if (found?.name !== branch) return undefined
      return { commit: found.commit.sha, tree: found.commit.commit.tree.sha }
    },
    takesOnlySigned: async (accessToken, repository, branch) => {
      const { rest, at } = on(accessToken, repository)
      const rules = await pages(Rule, (page) => rest.repos.getBranchRules({ ...at, branch, ...page }))
      return rules.items.some(({ type }) => type === 'required_signatures')
    },
    deleteBranch: async (accessToken, repository, branch) => {
      const { rest, at } = on(accessToken, repository)
      const deleted = ask(z.unknown(), () => rest.git.deleteRef({ ...at, ref: `heads/${branch}` }))
      await deleted.catch((fault: unknown) => {
        const isGone =
          fault instanceof CodeHostFault && fault.kind === 'invalid' && /does not exist/i.test(fault.message)
        if (!isGone) throw fault
      })
    },
  }
}

function pullRequestCalls(
  host: Host,
): Pick<
  CodeHost,
  'findPullRequest' | 'isInOpenPullRequest' | 'openPullRequest' | 'pullRequestStates' | 'updatePullRequest'
> {
  const { octokit, on, serverUrl } = host
  const readPullRequests = pullRequestReader()
  return {
    findPullRequest: async (accessToken, repository, { head, base, number }) => {
      const { rest, at } = on(accessToken, repository)
      const query = { ...at, head: `${at.owner}:${head}`, base, state: 'open' as const }
      const isFromHead = (one: PullRequest) =>
        one.state === 'open' && one.head.ref === head && one.head.repo?.id === one.base.repo.id
      const listed = await ask(z.array(PullRequest), () => rest.pulls.list(query))
      const found = listed.find((one) => isFromHead(one) && one.base.ref === base)
      if (found || number === undefined) return found && pullRequestFrom(found, serverUrl)
      // The list lacks a pull request whose base, or whose repository's owner, has changed.
      const known = await ask(PullRequest, () => rest.pulls.get({ ...at, pull_number: number })).catch(
        ifHidden(undefined),
      )
      return known && isFromHead(known) ? pullRequestFrom(known, serverUrl) : undefined
    },
    isInOpenPullRequest: async (accessToken, repository, branch) => {
      const { rest, at } = on(accessToken, repository)
      const query = { ...at, state: 'open' as const, per_page: 1 }
      const found = await Promise.all(
        [{ head: `${at.owner}:${branch}` }, { base: branch }].map((end) =>
          ask(z.array(PullRequest), () => rest.pulls.list({ ...query, ...end })),
        ),
      )
      return found.some((ones) => ones.length > 0)
    },
    openPullRequest: async (accessToken, repository, request) => {
      const { rest, at } = on(accessToken, repository)
      const opened = await ask(PullRequest, () => rest.pulls.create({ ...at, ...request }))
      return pullRequestFrom(opened, serverUrl)
    },
    pullRequestStates: (accessToken, keys) => readPullRequests(octokit(accessToken), keys, accessToken),
    updatePullRequest: async (accessToken, repository, number, request) => {
      const { rest, at } = on(accessToken, repository)
      const wanted = { ...at, pull_number: number, ...request }
      const updated = await ask(PullRequest, () => rest.pulls.update(wanted))
      return pullRequestFrom(updated, serverUrl)
    },
  }
}

function tokensFrom(answer: unknown, clock: Clock): HostTokens {
  const read = TokenAnswer.safeParse(answer)
  if (!read.success) {
    throw new CodeHostFault('unavailable', 'GitHub sent a response that Flightdeck does not understand.')
  }
  if ('error' in read.data) {
    const { error, error_description: says = error } = read.data
    throw new CodeHostFault(tokenFault(error), says, undefined, undefined, error)
  }
  const { access_token, expires_in, refresh_token, refresh_token_expires_in } = read.data
  const inSeconds = (seconds: number | undefined) =>
    seconds === undefined ? null : new Date(clock.now().getTime() + seconds * 1000).toISOString()
  return {
    accessToken: access_token,
    expiresAt: inSeconds(expires_in),
    refreshToken: refresh_token ?? null,
    refreshExpiresAt: inSeconds(refresh_token_expires_in),
  }
}

/**
 * The kind of fault for an OAuth error: used or expired codes and tokens, and a refusal by the person, require a new sign-in. Everything else is a
 * mistake in our configuration.
 */
const tokenFault = (error: string): CodeHostFault['kind'] =>
  ['bad_verification_code', 'bad_refresh_token', 'access_denied'].includes(error) ? 'unauthorized' : 'invalid'

type Repository = z.infer<typeof Repository>
type PullRequest = z.infer<typeof PullRequest>

async function repositoryById(
  { octokit, serverUrl }: Host,
  accessToken: string,
  id: string,
  etag: string | undefined,
): ReturnType<CodeHost['repositoryById']> {
  if (!/^\d{1,15}$/.test(id)) throw new CodeHostFault('not_found', 'There is no repository with this number.')
  const found = await askIfChanged(Repository, etag, (headers) =>
    octokit(accessToken).request('GET /repositories/{id}', { id, headers }),
  )
  if (found === 'unchanged') return found
  return { repository: repositoryFrom(found.data, serverUrl), etag: found.etag }
}

const repositoryFrom = (answer: Repository, serverUrl: string): HostRepository => ({
  id: String(answer.id),
  owner: answer.owner.login,
  name: answer.name,
  fullName: answer.full_name,
  description: answer.description ?? null,
  isPrivate: answer.private,
  htmlUrl: onServer(answer.html_url, serverUrl),
  defaultBranch: answer.default_branch,
  language: answer.language ?? null,
  createdAt: answer.created_at ?? null,
  isArchived: answer.archived ?? false,
  mayPush: answer.permissions?.push ?? null,
})

const pullRequestFrom = (answer: PullRequest, serverUrl: string): HostPullRequest => ({
  number: answer.number,
  htmlUrl: onServer(answer.html_url, serverUrl),
  state: answer.state,
  merged: answer.merged_at !== null && answer.merged_at !== undefined,
  body: answer.body ?? '',
})
