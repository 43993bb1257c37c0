/**
 * The route that reads a person's access through the App: the installations that the person's token can reach, and the person's requests to owners.
 */
import { getGitHubAccess, type GitHubAccess, type InstallationOfPerson } from '#domain/api/github.schema.ts'
import { mostShown } from '#domain/api/github.ts'
import { missingAppPermissions } from '#domain/appStatus.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { fresh, signedIn, type Person } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type {
  Installation,
  InstallationsOfPerson,
  InstalledRepositories,
} from '#platform/ports/codeHostApp.ts'
import { installationRequestsOf, unlessOfHost, withDetails } from '../installations.ts'
import { route, type QueryServices } from '../services.ts'

/** How long to wait for the counts of repositories, for the requests to owners, and for whether the App is public. */
const countTimeoutMs = 10_000

export const gitHubAccessRoutes: readonly Route<QueryServices>[] = [
  route(getGitHubAccess, signedIn, fresh, ({ user, query }, services) => accessOf(services, user, query)),
]

/** The services from which a person's access to GitHub is read. */
export type AccessSources = Pick<QueryServices, 'hostApp' | 'gitHubAnswers'> & {
  /** The local code host, which has no GitHub Apps; `null` when the code host is GitHub. */
  readonly localCodeHost: object | null
  readonly access: Pick<QueryServices['access'], 'tokenOf'>
  readonly codeHost: Pick<QueryServices['codeHost'], 'appUrls'>
  readonly codeHostApps: Pick<
    QueryServices['codeHostApps'],
    'installationsOf' | 'repositoriesOf' | 'installationRequests' | 'hasKey' | 'isPublic'
  >
}

interface AccessQuery {
  readonly installation_id?: string | undefined
  readonly refresh?: 'true' | undefined
}

/**
 * The person's access through the App. It is cached for some minutes, and read again for a refresh and when the person returns from the code host.
 */
export async function accessOf(
  sources: AccessSources,
  user: Pick<Person['user'], 'id' | 'githubId'>,
  { installation_id: returned, refresh }: AccessQuery,
): Promise<GitHubAccess> {
  const app = await sources.hostApp.current()
  if (!app && returned === undefined) return { app: null, installations: null, more: 0, requests: [] }
  if (!app) throw new Fault('install_callback')
  const token = await sources.access.tokenOf(user.id)
  const again = refresh === 'true' || returned !== undefined
  const name = `${app.clientId} ${user.id}`
  const { access } = sources.gitHubAnswers
  const answerTo = (how: { readonly again: boolean }) =>
    access.of(name, () => readAccess(sources, token, user), how)
  const answer = await answerTo({ again })
  if (returned === undefined || answer.installations?.some(({ id }) => id === returned)) return answer
  // Anybody can write any number into an address, so the code host is asked whether the person has an installation with this number.
  if (answer.installations === null || !(await isTheirs(sources, token, returned)))
    throw new Fault('install_callback')
  if (answer.more > 0) return answer
  // The person has this installation, but `answer` does not list it. So `answer` is outdated and must be read again.
  access.forget(name, answer)
  return answerTo({ again: false })
}

async function isTheirs({ codeHostApps }: AccessSources, token: string, returned: string): Promise<boolean> {
  const query = { installationId: returned, ids: false }
  return codeHostApps.repositoriesOf(token, query).then(
    () => true,
    (fault: unknown) => {
      if (fault instanceof CodeHostFault && ['not_found', 'forbidden', 'invalid'].includes(fault.kind))
        return false
      throw fault
    },
  )
}

async function readAccess(
  sources: AccessSources,
  token: string,
  { githubId }: Pick<Person['user'], 'githubId'>,
): Promise<GitHubAccess> {
  const found = await installationsOf(sources, token)
  const { install, manage } = await sources.codeHost.appUrls()
  const limits = { max: mostShown.installations, timeoutMs: countTimeoutMs }
  const [installations, requests, isPublic] = await Promise.all([
    found
      ? withDetails(found.installations, limits, (one) => repositoriesOf(sources, token, one), presented)
      : null,
    requestsOf(sources, githubId),
    withinOr(countTimeoutMs, sources.codeHostApps.isPublic(), null),
  ])
  const app = await sources.hostApp.current()
  return {
    app:
      app && sources.localCodeHost === null
        ? { name: app.name, installUrl: install, manageUrl: manage, isPublic }
        : null,
    installations,
    more: (found?.count ?? 0) - (installations?.length ?? 0),
    requests,
  }
}

/** The person's installations; `undefined` when the token is not from an App, so that only the person's own permissions count. */
async function installationsOf(
  { codeHostApps }: AccessSources,
  token: string,
): Promise<InstallationsOfPerson | undefined> {
  return codeHostApps.installationsOf(token).catch((fault: unknown) => {
    if (fault instanceof CodeHostFault && fault.kind === 'forbidden') return undefined
    throw fault
  })
}

function presented(one: Installation, repositories: InstalledRepositories | null): InstallationOfPerson {
  return {
    id: one.id,
    account: one.account.login,
    isOrganization: one.account.isOrganization,
    repositories: one.repositories,
    count: repositories?.count ?? null,
    selected: one.repositories === 'selected' && repositories ? [...repositories.ids] : null,
    isCut: repositories?.isCut ?? false,
    isSuspended: one.suspendedAt !== null,
    missing: missingAppPermissions(one.permissions),
    url: one.htmlUrl,
  }
}

/** The repositories of an installation that the person can reach; `null` when the code host does not say. */
async function repositoriesOf(
  { codeHostApps }: AccessSources,
  token: string,
  { id, repositories }: Installation,
): Promise<InstalledRepositories | null> {
  const query = { installationId: id, ids: repositories === 'selected' }
  return codeHostApps.repositoriesOf(token, query).catch(unlessOfHost)
}

/** The person's requests to install the App. Empty when the App has no key to list requests, and when the code host does not list them in time. */
async function requestsOf(sources: AccessSources, githubId: string | null): Promise<{ account: string }[]> {
  if (githubId === null || !(await sources.codeHostApps.hasKey())) return []
  const all = (await withinOr(countTimeoutMs, installationRequestsOf(sources), null)) ?? []
  const theirs = all.filter(({ requesterId }) => requesterId === githubId)
  return theirs.slice(0, mostShown.requests).map(({ account }) => ({ account }))
}
