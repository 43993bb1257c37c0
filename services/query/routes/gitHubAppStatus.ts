/**
 * The route that reads the App's status, for administrators. If a part of the status cannot be read, the answer says why, and still has the other
 * parts.
 */
import { z } from 'zod'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import {
  getGitHubRights,
  type InstallationOfApp,
  type InstallationsOfApp,
} from '#domain/api/github.schema.ts'
import { mostShown } from '#domain/api/github.ts'
import {
  deliveryEffects,
  missingAppPermissions,
  missingAppEvents,
  namedPermissions,
  permissionRows,
} from '#domain/appStatus.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { within } from '#platform/async/timeLimit.ts'
import { administrator, fresh, signedIn, type Person } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { intact, isDamaged } from '#platform/ports/eventStore.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { HostDelivery, Installation, RateLimit } from '#platform/ports/codeHostApp.ts'
import { installationRequestsOf, unlessOfHost, withDetails } from '../installations.ts'
import { route, type QueryServices } from '../services.ts'

const partTimeoutMs = 12_000
const detailTimeoutMs = 8_000

export const gitHubRightsRoutes: readonly Route<QueryServices>[] = [
  route(getGitHubRights, signedIn, fresh, administrator, ({ user, query }, services) =>
    rightsOf(services, user, { again: query.refresh === 'true' }),
  ),
]

type Apps = Pick<
  QueryServices['codeHostApps'],
  | 'hasKey'
  | 'app'
  | 'installations'
  | 'installationRequests'
  | 'installationToken'
  | 'repositoryCount'
  | 'rateLimit'
  | 'deliveries'
>

/** The services from which the status is read. */
export interface RightsSources extends Pick<
  QueryServices,
  'hostApp' | 'eventStore' | 'clock' | 'gitHubAnswers'
> {
  /** The local code host, which has no GitHub Apps; `null` when the code host is GitHub. */
  readonly localCodeHost: object | null
  readonly codeHostApps: Apps
  readonly codeHost: Pick<QueryServices['codeHost'], 'appUrls' | 'ownToken'>
  readonly access: Pick<QueryServices['access'], 'tokenOf'>
}

/** The App's status, and the remaining requests in the rate limit of the administrator who asks. */
export async function rightsOf(
  sources: RightsSources,
  user: Pick<Person['user'], 'id' | 'githubConnected' | 'githubUsername'>,
  how: { readonly again: boolean } = { again: false },
): Promise<AnswerOf<typeof getGitHubRights>> {
  const app = await sources.hostApp.current()
  const [permissions, installations, deliveries, own] = await Promise.all([
    part(() => permissionsOf(sources)),
    part(() =>
      sources.gitHubAnswers.installations.of(app?.clientId ?? '', () => installationsOf(sources), how),
    ),
    part(() => deliveriesOf(sources)),
    ownLimit(sources, user),
  ])
  const isSingleUser = sources.codeHost.ownToken !== undefined
  const isLocal = sources.localCodeHost !== null
  const parts = { isSingleUser, isLocal, permissions, installations, deliveries, own }
  if (!app || isLocal) return { app: null, ...parts }
  const { install, manage } = await sources.codeHost.appUrls()
  const hasKey = await sources.codeHostApps.hasKey()
  return {
    app: { name: app.name, slug: app.slug, url: manage, installUrl: install, hasKey },
    ...parts,
  }
}

type Part<T> = ({ readonly kind: 'read' } & T) | { readonly kind: 'unavailable'; readonly reason: string }

async function part<T extends object>(read: () => Promise<T>): Promise<Part<T>> {
  const late = () => new CodeHostFault('unavailable', 'GitHub takes too long to answer. Try again later.')
  try {
    return { kind: 'read', ...(await within(partTimeoutMs, read(), late)) }
  } catch (fault) {
    const isTold = fault instanceof CodeHostFault || fault instanceof Fault
    if (!isTold) throw fault
    return { kind: 'unavailable', reason: reasonOf(fault) }
  }
}

/** Why a part could not be read. For a refused key, the sentence is about the App, because the code host's own sentence is about a person's token. */
const reasonOf = (fault: CodeHostFault | Fault): string =>
  fault instanceof CodeHostFault && ['unauthorized', 'not_found'].includes(fault.kind)
    ? "GitHub refuses the private key of the App, or no longer knows the App. Nothing of the App's work is done meanwhile, and no person's access takes its place. Make a new private key on the page of the App at GitHub, and start the server with GITHUB_APP_PRIVATE_KEY and the other variables of the App. Where the key is the right one, look at the clock of this server."
    : fault.message

async function permissionsOf({ codeHostApps }: RightsSources) {
  const { permissions, events, owner, permissionsUrl } = await codeHostApps.app()
  return {
    rows: permissionRows(permissions),
    missing: missingAppPermissions(permissions),
    missingEvents: missingAppEvents(events),
    owner: { account: owner.login, isOrganization: owner.isOrganization },
    url: permissionsUrl,
  }
}

async function installationsOf(sources: RightsSources): Promise<InstallationsOfApp> {
  const [found, requests] = await Promise.all([
    sources.codeHostApps.installations(),
    installationRequestsOf(sources),
  ])
  const limits = { max: mostShown.installations, timeoutMs: detailTimeoutMs }
  const installations = await withDetails(found, limits, (one) => detailOf(sources, one), presented)
  const listed = (requests ?? []).slice(0, mostShown.requests)
  return {
    installations,
    more: found.length - installations.length,
    requests: listed.map(({ account, requester }) => ({ account, requester })),
  }
}

interface Detail {
  readonly count: number
  readonly left: RateLimit
}

/** The number of repositories of an installation, and its rate limit; `null` when the code host does not say. */
async function detailOf(
  { codeHostApps }: Pick<RightsSources, 'codeHostApps'>,
  { id }: Installation,
): Promise<Detail | null> {
  try {
    const scope = { installationId: id, repositoryId: null, permissions: { metadata: 'read' } } as const
    const token = await codeHostApps.installationToken(scope)
    const [count, left] = await Promise.all([
      codeHostApps.repositoryCount(token),
      codeHostApps.rateLimit(token),
    ])
    return { count, left }
  } catch (fault) {
    return unlessOfHost(fault)
  }
}

function presented(installation: Installation, detail: Detail | null): InstallationOfApp {
  const { id, account, repositories, suspendedAt, permissions, htmlUrl } = installation
  return {
    id,
    account: account.login,
    isOrganization: account.isOrganization,
    repositories,
    count: detail?.count ?? null,
    suspendedAt,
    granted: namedPermissions(permissions),
    missing: missingAppPermissions(permissions),
    left: detail?.left ?? null,
    url: htmlUrl,
  }
}

async function deliveriesOf({ codeHostApps, eventStore, clock }: RightsSources) {
  const found = (await codeHostApps.deliveries()).slice(0, mostShown.deliveries)
  const recorded = await recordedOf(eventStore, found, clock.now().getTime())
  const effects = deliveryEffects(found, (guid) => recorded.has(guid.toLowerCase()))
  return {
    deliveries: found.map(({ id, deliveredAt, event, action, succeeded }, index) => ({
      id,
      at: deliveredAt,
      event,
      action,
      succeeded,
      effect: effects[index] ?? 'unknown',
    })),
  }
}

const dayMs = 86_400_000
const eventsAtOnce = 500
/** At most this many reads are made from the stream of one day, enough for 10,000 deliveries. */
const maxReads = 20
/** The streams of at most this many days are read. The code host keeps deliveries for three days. */
const maxDays = 5
/** How far the code host's clock may be ahead of this server's clock, in milliseconds. */
const skewMs = 300_000
const WithGuid = z.object({ guid: z.string() })

/** The GUIDs, in lower case, of those `deliveries` that the log has. Reads the log backwards until the time of the oldest delivery. */
async function recordedOf(
  eventStore: QueryServices['eventStore'],
  deliveries: readonly HostDelivery[],
  now: number,
): Promise<ReadonlySet<string>> {
  const wanted = new Set(deliveries.map(({ guid }) => guid.toLowerCase()))
  const oldest = Math.min(...deliveries.map(({ deliveredAt }) => Date.parse(deliveredAt))) - skewMs
  const found = new Set<string>()
  for (let back = 0; back < maxDays && now - back * dayMs > oldest - dayMs; back += 1) {
    const stream = deliveryStream(new Date(now - back * dayMs).toISOString().slice(0, 10))
    let from: number | 'end' = 'end'
    for (let read = 0; read < maxReads && found.size < wanted.size; read += 1) {
      const events = await eventStore.readStream(stream, {
        from,
        direction: 'backwards',
        limit: eventsAtOnce,
      })
      for (const { data } of intact(events)) {
        const guid = WithGuid.safeParse(data).data?.guid
        if (guid !== undefined && wanted.has(guid)) found.add(guid)
      }
      const last = events.at(-1)
      if (!last || last.revision === 0 || (!isDamaged(last) && Date.parse(last.at) < oldest)) break
      from = last.revision - 1
    }
  }
  return found
}

/** The administrator's own rate limit; `null` without a connected account, and for the local code host, which has no limits. */
async function ownLimit(
  { access, codeHostApps, localCodeHost }: RightsSources,
  user: Pick<Person['user'], 'id' | 'githubConnected' | 'githubUsername'>,
) {
  const { githubConnected, githubUsername: login } = user
  if (!githubConnected || login === null || localCodeHost !== null) return null
  const left = await part(async () => ({ left: await codeHostApps.rateLimit(await access.tokenOf(user.id)) }))
  return left.kind === 'read' ? { ...left, login } : left
}
