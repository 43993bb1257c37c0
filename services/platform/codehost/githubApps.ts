/** The App itself at the code host: its creation from a manifest, its installations, their tokens, and its webhook deliveries. */
import { createAppAuth } from '@octokit/auth-app'
import { z } from 'zod'
import { Fault } from '#domain/kernel/errors.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type {
  AppRegistration,
  CodeHostApps,
  CurrentApp,
  HostDelivery,
  Installation as HostInstallation,
} from '#platform/ports/codeHostApp.ts'
import { onServer, serverForBrowser, trimmed } from './address.ts'
import * as answers from './responseSchemas.ts'
import { pages } from './pagedLists.ts'
import { ask, faultOf, unreachable, type Requests } from './request.ts'
import { within } from '../async/timeLimit.ts'

export interface GitHubAppsOptions {
  readonly serverUrl: string
  readonly app: CurrentApp
  readonly requests: Requests
}

type Auth = ReturnType<typeof createAppAuth>

/** How long a caller waits for an installation token, in milliseconds. A token that arrives later is cached for the next caller. */
const tokenTimeoutMs = 20_000

/**
 * Creates the calls about the App. A process must do this only once: octokit identifies pending requests for tokens by the installation's id alone,
 * so it would mix up the requests to two hosts.
 */
export function githubApps({ serverUrl: url, app, requests }: GitHubAppsOptions): CodeHostApps {
  const serverUrl = trimmed(url)
  const auth = authOfCurrent(requests)
  const keyed = async () => {
    const current = await app()
    return current && auth(current)
  }
  async function signing(): Promise<Auth> {
    const found = await keyed()
    if (!(await app())) throw new Fault('setup_required')
    if (!found) throw new Fault('setup_required', 'The private key of the GitHub App is not configured.')
    return found
  }
  const asApp = async () => {
    const { token } = await (await signing())({ type: 'app' })
    requests.nameHolder(token, 'app')
    return requests.octokit(token).rest.apps
  }
  const host = { serverUrl, asApp, hasKey: async () => (await keyed()) !== undefined }
  return {
    newAppUrl: ({ origin, state, organization }) => {
      const of = organization === null ? '' : `/organizations/${encodeURIComponent(organization)}`
      const query = new URLSearchParams({ state })
      return `${serverForBrowser(serverUrl, origin)}${of}/settings/apps/new?${query.toString()}`
    },
    convertManifest: async (code) => {
      const { apps } = requests.octokit(undefined).rest
      return registrationFrom(await ask(answers.ConvertedManifest, () => apps.createFromManifest({ code })))
    },
    ...knownOfApp(host),
    isPublic: async () => isPublic(requests, await app()),
    installationToken: async ({ installationId, repositoryId, permissions, fresh = false }) => {
      const auth = await signing()
      try {
        const asking = auth({
          type: 'installation',
          installationId: Number(installationId),
          ...(repositoryId === null ? {} : { repositoryIds: [Number(repositoryId)] }),
          permissions,
          refresh: fresh,
        })
        const { token } = await within(tokenTimeoutMs, asking, unreachable)
        requests.nameHolder(token, `installation:${installationId}`)
        return token
      } catch (error) {
        throw faultOf(error)
      }
    },
    installationsOf: async (accessToken) => {
      const { apps } = requests.octokit(accessToken).rest
      let count = 0
      const list = async (page: { page: number; per_page: number }) => {
        const { total_count: all, installations } = await ask(answers.InstallationsOfPerson, () =>
          apps.listInstallationsForAuthenticatedUser(page),
        )
        count = all
        return { data: installations }
      }
      const found = await pages(answers.Installation, list, { most: maxPages.installations })
      return { installations: found.items.map((one) => installationFrom(one, serverUrl)), count }
    },
    ...repositoryCalls(requests),
    rateLimit: async (accessToken) => {
      const { rateLimit } = requests.octokit(accessToken).rest
      const { resources } = await ask(answers.RateLimits, () => rateLimit.get())
      const { limit, remaining, reset } = resources.core
      return { limit, remaining, resetsAt: new Date(reset * 1_000).toISOString() }
    },
  }
}

/** Whether the App is public; `null` when there is none or the code host cannot say. Requests without a token see only public Apps. */
async function isPublic(requests: Requests, app: AppRegistration | undefined): Promise<boolean | null> {
  if (!app) return null
  const { apps } = requests.octokit(undefined).rest
  try {
    await ask(z.unknown(), () => apps.getBySlug({ app_slug: app.slug }))
    return true
  } catch (fault) {
    if (!(fault instanceof CodeHostFault)) throw fault
    return fault.kind === 'not_found' ? false : null
  }
}

/**
 * How many pages are read of a list of installations or of repositories, with a hundred items per page. People read these lists, so further items are
 * only counted.
 */
const maxPages = { installations: 2, repositories: 3 }

function repositoryCalls(requests: Requests): Pick<CodeHostApps, 'repositoriesOf' | 'repositoryCount'> {
  const read = (call: () => Promise<{ readonly data: unknown }>) => ask(answers.InstalledRepositories, call)
  return {
    repositoriesOf: async (accessToken, { installationId, ids }) => {
      const { apps } = requests.octokit(accessToken).rest
      const list = (page: { page: number; per_page: number }) =>
        read(() =>
          apps.listInstallationReposForAuthenticatedUser({
            installation_id: Number(installationId),
            ...page,
          }),
        )
      if (!ids) return { count: (await list({ page: 1, per_page: 1 })).total_count, ids: [], isCut: false }
      let count = 0
      const listIds = async (page: { page: number; per_page: number }) => {
        const { total_count: all, repositories } = await list(page)
        count = all
        return { data: repositories }
      }
      const found = await pages(z.object({ id: z.number() }), listIds, { most: maxPages.repositories })
      return { count, ids: found.items.map(({ id }) => String(id)), isCut: found.items.length < count }
    },
    repositoryCount: async (installationToken) => {
      const { apps } = requests.octokit(installationToken).rest
      return (await read(() => apps.listReposAccessibleToInstallation({ per_page: 1 }))).total_count
    },
  }
}

interface SigningHost {
  readonly serverUrl: string
  hasKey(): Promise<boolean>
  /** Returns octokit's calls about Apps, authenticated as the App. Throws `setup_required`. */
  asApp(): Promise<ReturnType<Requests['octokit']>['rest']['apps']>
}

function knownOfApp({
  serverUrl,
  hasKey,
  asApp,
}: SigningHost): Pick<
  CodeHostApps,
  | 'hasKey'
  | 'app'
  | 'installations'
  | 'installationRequests'
  | 'deliveries'
  | 'failedDeliveries'
  | 'deliveryPayload'
> {
  return {
    hasKey,
    app: async () => {
      const apps = await asApp()
      const found = await ask(answers.App, () => apps.getAuthenticated())
      const { slug, name, permissions, events } = found
      const owner = ownerOf(found.owner)
      const settings = owner.isOrganization ? `organizations/${owner.login}/settings` : 'settings'
      return {
        slug,
        name,
        permissions,
        events,
        htmlUrl: onServer(found.html_url, serverUrl),
        permissionsUrl: `${serverUrl}/${settings}/apps/${slug}/permissions`,
        owner,
      }
    },
    installations: async () => {
      const apps = await asApp()
      const found = await pages(answers.Installation, (page) => apps.listInstallations(page))
      return found.items.map((one) => installationFrom(one, serverUrl))
    },
    installationRequests: async () => {
      const apps = await asApp()
      const found = await pages(answers.InstallationRequest, (page) =>
        apps.listInstallationRequestsForAuthenticatedApp(page),
      )
      return found.items.map(({ account, requester }) => ({
        account: ownerOf(account).login,
        requester: ownerOf(requester).login,
        requesterId: String(requester.id),
      }))
    },
    ...failedCalls(asApp),
    deliveries: async () => {
      const apps = await asApp()
      const found = await ask(z.array(answers.Delivery), () => apps.listWebhookDeliveries({ per_page: 50 }))
      return found.map(deliveryFrom)
    },
  }
}

/** The calls about failed webhook deliveries. The code host keeps deliveries for three days. */
function failedCalls(
  asApp: SigningHost['asApp'],
): Pick<CodeHostApps, 'failedDeliveries' | 'deliveryPayload'> {
  return {
    failedDeliveries: async (cursor) => {
      const apps = await asApp()
      let link: string | undefined
      const found = await ask(z.array(answers.Delivery), async () => {
        const query = { per_page: 100, status: 'failure', ...(cursor === null ? {} : { cursor }) } as const
        const answer = await apps.listWebhookDeliveries(query)
        link = answer.headers.link
        return answer
      })
      return { deliveries: found.map(deliveryFrom), next: nextCursor(link) }
    },
    deliveryPayload: async (id) => {
      const apps = await asApp()
      const found = await ask(answers.DeliveryInFull, () =>
        apps.getWebhookDelivery({ delivery_id: Number(id) }),
      )
      return found.request.payload
    },
  }
}

/** The cursor in a header such as `<https://...?cursor=v1_7&per_page=100>; rel="next"`; `null` when there is no next page. */
function nextCursor(link: string | undefined): string | null {
  const [, next] = /<([^>]+)>; *rel="next"/.exec(link ?? '') ?? []
  return next !== undefined && URL.canParse(next) ? new URL(next).searchParams.get('cursor') : null
}

/**
 * Returns a function that gives octokit's authentication for an App, or `undefined` for an App without a private key. The authentication caches
 * installation tokens, and is made again when the App changes.
 */
function authOfCurrent(requests: Requests): (app: AppRegistration) => Auth | undefined {
  let made: { readonly appId: string; readonly privateKey: string; readonly auth: Auth } | undefined
  return ({ appId, privateKey }) => {
    if (appId === null || privateKey === null) return undefined
    if (made?.appId !== appId || made.privateKey !== privateKey) {
      // Requests for tokens are not paced. The App has only one queue, in which a request for one account would wait for those for all other
      // accounts.
      const { request } = requests.unpaced()
      made = { appId, privateKey, auth: createAppAuth({ appId, privateKey, request }) }
    }
    return made.auth
  }
}

function registrationFrom(made: z.infer<typeof answers.ConvertedManifest>): AppRegistration {
  return {
    appId: String(made.id),
    slug: made.slug,
    name: made.name,
    htmlUrl: made.html_url,
    clientId: made.client_id,
    clientSecret: made.client_secret,
    privateKey: made.pem,
    webhookSecret: made.webhook_secret ?? null,
  }
}

function ownerOf({ login, slug, type }: answers.Owner): { login: string; isOrganization: boolean } {
  const name = login ?? slug
  if (name === undefined) throw new CodeHostFault('unavailable', 'GitHub named no owner of an App.')
  return { login: name, isOrganization: type === 'Organization' }
}

function installationFrom(found: answers.Installation, serverUrl: string): HostInstallation {
  const { account } = found
  return {
    id: String(found.id),
    account: {
      id: String(account.id),
      ...ownerOf(account),
      avatarUrl: onServer(account.avatar_url, serverUrl),
    },
    permissions: found.permissions,
    repositories: found.repository_selection,
    suspendedAt: found.suspended_at ?? null,
    htmlUrl: onServer(found.html_url, serverUrl),
  }
}

function deliveryFrom(found: z.infer<typeof answers.Delivery>): HostDelivery {
  const { guid, event, redelivery } = found
  return {
    id: String(found.id),
    guid,
    deliveredAt: found.delivered_at,
    event,
    action: found.action ?? null,
    succeeded: found.status_code >= 200 && found.status_code < 300,
    redelivery,
  }
}
