/** What the App reaches for a person: their installations, with their own token, and what they asked an owner for. */
import { getGitHubAccess, type InstallationOfPerson } from '#domain/api/github.schema.ts'
import { mostShown } from '#domain/api/github.ts'
import { lacking } from '#domain/codeHostRights.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { limitConcurrency } from '#platform/async/queue.ts'
import { withinOr } from '#platform/async/timeLimit.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { Installation, InstalledRepositories } from '#platform/ports/codeHostApp.ts'
import { route, type QueryServices } from '../services.ts'

/** A count that is not there by then is not waited for. */
const countedWithinMs = 10_000
const countedAtOnce = 5

export const gitHubAccessRoutes: readonly Route<QueryServices>[] = [
  route(getGitHubAccess, signedIn, fresh, async ({ user, query }, services) => {
    const { installation_id: returned } = query
    const app = await services.hostApp.current()
    const token = app && (await services.access.tokenOf(user.id))
    const found = token === undefined ? undefined : await installationsOf(services, token)
    // Anybody can make an address with a number in it; whose the installation is only the code host says.
    if (returned !== undefined && !found?.some(({ id }) => id === returned))
      throw new Fault('install_callback')
    if (!app || token === undefined) return { app: null, installations: null, more: 0, requests: [] }
    const { install, manage } = await services.codeHost.appUrls()
    const shown = found?.toSorted(byAccount).slice(0, mostShown.installations)
    const [installations, requests] = await Promise.all([
      shown === undefined ? null : presented(services, token, shown),
      requestsOf(services, user.githubId),
    ])
    return {
      app: { name: app.name, installUrl: install, manageUrl: manage },
      installations,
      more: (found?.length ?? 0) - (shown?.length ?? 0),
      requests,
    }
  }),
]

const byAccount = (a: Installation, b: Installation): number =>
  a.account.login.toLowerCase() < b.account.login.toLowerCase() ? -1 : 1

/** `undefined` where the token is not that of an App: a person's own rights are all there is then. */
async function installationsOf(
  { codeHostApps }: QueryServices,
  token: string,
): Promise<readonly Installation[] | undefined> {
  return codeHostApps.installationsOf(token).catch((fault: unknown) => {
    if (fault instanceof CodeHostFault && fault.kind === 'forbidden') return undefined
    throw fault
  })
}

async function presented(
  services: QueryServices,
  token: string,
  found: readonly Installation[],
): Promise<InstallationOfPerson[]> {
  const inTurn = limitConcurrency(countedAtOnce)
  return Promise.all(
    found.map(async (one) => {
      const counted = inTurn(() => repositoriesOf(services, token, one))
      const repositories = await withinOr(countedWithinMs, counted, null)
      return {
        id: one.id,
        account: one.account.login,
        isOrganization: one.account.isOrganization,
        repositories: one.repositories,
        count: repositories?.count ?? null,
        selected: one.repositories === 'selected' && repositories ? [...repositories.ids] : null,
        isSuspended: one.suspendedAt !== null,
        missing: lacking(one.permissions),
        url: one.htmlUrl,
      }
    }),
  )
}

/** `null` while it is suspended, and where the code host does not say. */
async function repositoriesOf(
  { codeHostApps }: QueryServices,
  token: string,
  { id, repositories, suspendedAt }: Installation,
): Promise<InstalledRepositories | null> {
  if (suspendedAt !== null) return null
  const asked = { installationId: id, ids: repositories === 'selected' }
  return codeHostApps.repositoriesOf(token, asked).catch(unlessOfHost)
}

/** What the person asked for, by their id. What the App cannot be asked for is not shown. */
async function requestsOf(
  { codeHostApps }: QueryServices,
  githubId: string | null,
): Promise<{ account: string }[]> {
  if (githubId === null || !(await codeHostApps.hasKey())) return []
  const asked = codeHostApps.installationRequests().catch(unlessOfHost)
  const all = (await withinOr(countedWithinMs, asked, null)) ?? []
  const theirs = all.filter(({ requesterId }) => requesterId === githubId)
  return theirs.slice(0, mostShown.requests).map(({ account }) => ({ account }))
}

function unlessOfHost(fault: unknown): null {
  if (!(fault instanceof CodeHostFault)) throw fault
  return null
}
