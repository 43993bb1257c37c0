/** The GitHub App through which the product acts at the code host. */
import { z } from 'zod'
import type { AppPermissions } from '#domain/appPermissions.ts'

/** An App as the code host registered it. `clientSecret`, `privateKey` and `webhookSecret` are secrets. */
export const AppRegistration = z.object({
  /** The host's numeric id as a decimal string; `null` for an OAuth client without an App, for which there are no installation tokens. */
  appId: z.string().nullable(),
  /** The App's name in addresses: `https://github.com/apps/<slug>`. */
  slug: z.string(),
  name: z.string(),
  /** The App's page at the host; `null` when only the slug is known. */
  htmlUrl: z.string().nullable(),
  clientId: z.string(),
  clientSecret: z.string(),
  /** The private key in PEM; `null` when there is none, in which case only people's own tokens are used. */
  privateKey: z.string().nullable(),
  /** The secret that signs the App's webhook deliveries; `null` when none is known. */
  webhookSecret: z.string().nullable(),
})
export type AppRegistration = Readonly<z.infer<typeof AppRegistration>>

/** Returns the current App; `undefined` while there is none. Call it for each use, because an App may be created at any time. */
export type CurrentApp = () => Promise<AppRegistration | undefined>

/** The account whose repositories an installation covers. */
export interface InstallationAccount {
  readonly id: string
  readonly login: string
  readonly isOrganization: boolean
  readonly avatarUrl: string
}

/** An installation of the App in one account. */
export interface Installation {
  readonly id: string
  readonly account: InstallationAccount
  /** The permissions that the account's owner granted. They may be fewer than the App requests by now. */
  readonly permissions: AppPermissions
  /** Whether the App can reach all repositories of the account, or only those that its owner selected. */
  readonly repositories: 'all' | 'selected'
  /** When the installation was suspended, in the format of ISO 8601; `null` when it is not suspended. */
  readonly suspendedAt: string | null
  /** The page on which the account's owner can change the installation. */
  readonly htmlUrl: string
}

/** The App's current data at the host. */
export interface AppAtHost {
  readonly slug: string
  readonly name: string
  readonly htmlUrl: string
  /** The page on which the App's owner can change the permissions that it requests. */
  readonly permissionsUrl: string
  readonly owner: { readonly login: string; readonly isOrganization: boolean }
  readonly permissions: AppPermissions
  readonly events: readonly string[]
}

/** A request to an organization's owner to install the App. It has the id of the person who asked, since a login can pass to somebody else. */
export interface InstallationRequest {
  readonly account: string
  readonly requester: string
  readonly requesterId: string
}

export interface InstalledRepositories {
  readonly count: number
  /** The first 300 ids; empty when only the count was requested. */
  readonly ids: readonly string[]
  /** Whether there are more repositories than ids, if ids were requested. */
  readonly isCut: boolean
}

/** At most 200 of the installations that a person can see; `count` is the number of all of them. */
export interface InstallationsOfPerson {
  readonly installations: readonly Installation[]
  readonly count: number
}

/** A webhook delivery, as listed by the host. */
export interface HostDelivery {
  readonly id: string
  readonly guid: string
  readonly deliveredAt: string
  readonly event: string
  readonly action: string | null
  readonly succeeded: boolean
  readonly redelivery: boolean
}

/** A rate limit, and how many requests remain of it. Times are ISO 8601. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: string
}

/**
 * The code host's data about the App itself. Calls that sign with the App's key throw `setup_required` when there is no App or no key. Calls to the
 * host throw CodeHostFault. Tested by `tests/contracts/codeHost.apps.spec.ts`.
 */
export interface CodeHostApps {
  /**
   * The address to which the browser posts a form with a field `manifest` to create an App. `origin` is our address in that browser; `organization`
   * is the App's owner, if not the person.
   */
  newAppUrl(request: { origin: string; state: string; organization: string | null }): string
  /** The App that was created from a manifest. The code works once, within an hour. */
  convertManifest(code: string): Promise<AppRegistration>
  /** Whether there is an App with an id and a key. Otherwise the calls that need its signature fail. */
  hasKey(): Promise<boolean>
  app(): Promise<AppAtHost>
  /** Whether accounts other than its owner's may install the App; `null` when the host does not say, or when there is no App. */
  isPublic(): Promise<boolean | null>
  /** The first 1,000 installations. */
  installations(): Promise<readonly Installation[]>
  /** The first 1,000 requests. */
  installationRequests(): Promise<readonly InstallationRequest[]>
  /**
   * A token of the installation with exactly the requested access, cached and shared until it expires. Throws `invalid` when a repository is not in
   * the installation or a permission was not granted. `fresh` bypasses the cache, which is necessary after a change of permissions.
   */
  installationToken(request: {
    readonly installationId: string
    /** `null` for all repositories of the installation. */
    readonly repositoryId: string | null
    readonly permissions: AppPermissions
    readonly fresh?: boolean
  }): Promise<string>
  /** The installations that the token's owner can see, at most 200. */
  installationsOf(accessToken: string): Promise<InstallationsOfPerson>
  /** The installation's repositories that the token's owner can access. Throws `forbidden` while the installation is suspended. */
  repositoriesOf(
    accessToken: string,
    query: { readonly installationId: string; readonly ids: boolean },
  ): Promise<InstalledRepositories>
  /** The number of repositories that the installation token can access. */
  repositoryCount(installationToken: string): Promise<number>
  /** A page of failed deliveries, newest first. The cursor `null` requests the first page; in the answer it means that there are no more. */
  failedDeliveries(
    cursor: string | null,
  ): Promise<{ readonly deliveries: readonly HostDelivery[]; readonly next: string | null }>
  /** The payload of a delivery. Throws `not_found` when the host has dropped it. */
  deliveryPayload(id: string): Promise<unknown>
  /** The latest deliveries, newest first, at most 50. */
  deliveries(): Promise<readonly HostDelivery[]>
  /** The rate limit of the token's holder in the REST API. Asking for the rate limit does not count against it. */
  rateLimit(accessToken: string): Promise<RateLimit>
}
