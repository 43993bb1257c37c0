/** The GitHub App as which the product acts at the code host. */
import { z } from 'zod'
import type { AppPermissions } from '#domain/appPermissions.ts'

/** An App as the code host registered it. `clientSecret`, `privateKey` and `webhookSecret` are secrets. */
export const AppRegistration = z.object({
  /** The host's numeric id, as a decimal string; `null` when the operator configured none: then there are no installation tokens. */
  appId: z.string().nullable(),
  /** The name of the App in addresses: `https://github.com/apps/<slug>`. */
  slug: z.string(),
  name: z.string(),
  /** The page of the App at the host; `null` when only the slug is known. */
  htmlUrl: z.string().nullable(),
  clientId: z.string(),
  clientSecret: z.string(),
  /** PEM; `null` when there is none: then only people's own tokens are used. */
  privateKey: z.string().nullable(),
  /** The secret that signs the App's webhook deliveries; `null` when it has no webhook. */
  webhookSecret: z.string().nullable(),
})
export type AppRegistration = Readonly<z.infer<typeof AppRegistration>>

/** The current registration, queried on each use; `undefined` while there is none. */
export type CurrentApp = () => Promise<AppRegistration | undefined>

/** The account whose repositories an installation covers. */
export interface InstallationAccount {
  readonly id: string
  readonly login: string
  readonly isOrganization: boolean
  readonly avatarUrl: string
}

/** An installation: the App in one account. */
export interface Installation {
  readonly id: string
  readonly account: InstallationAccount
  /** The permissions that its owner granted, which may lag behind those that the App requests. */
  readonly permissions: AppPermissions
  /** All repositories of the account, or those that its owner chose. */
  readonly repositories: 'all' | 'selected'
  /** When the installation was suspended, in the format of ISO 8601; `null` when it is not suspended. */
  readonly suspendedAt: string | null
  /** The page on which its owner can change the installation. */
  readonly htmlUrl: string
}

/** The App's current data at the host. */
export interface AppAtHost {
  readonly slug: string
  readonly name: string
  readonly htmlUrl: string
  /** The page on which its owner can change the permissions that the App requests. */
  readonly permissionsUrl: string
  readonly owner: { readonly login: string; readonly isOrganization: boolean }
  readonly permissions: AppPermissions
  readonly events: readonly string[]
}

/** A request to an organization's owner to install the App. The person is identified by their id, since logins can change hands. */
export interface InstallationRequest {
  readonly account: string
  readonly requester: string
  readonly requesterId: string
}

export interface InstalledRepositories {
  readonly count: number
  /** Up to 300; empty when only the count was requested. */
  readonly ids: readonly string[]
  /** Whether there are more than those ids, if ids were requested. */
  readonly isCut: boolean
}

/** The first of the installations that a person can see, and their total number. */
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

/** A rate limit and what is left of it. Times are in the format of ISO 8601. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: string
}

/**
 * The code host's data about the App itself. Calls without a token sign with the App's key, and throw `setup_required` when there is no App or no
 * key. All throw CodeHostFault. Held by `tests/contracts/codeHost.apps.spec.ts`.
 */
export interface CodeHostApps {
  /**
   * The address to which a form with a field `manifest` is posted to create an App, for the browser at `origin`. `organization`: its owner, if not
   * the person.
   */
  newAppUrl(request: { origin: string; state: string; organization: string | null }): string
  /** The App that was created from a manifest. The code works once, within an hour. */
  convertManifest(code: string): Promise<AppRegistration>
  /** Whether the App has a key, without which the calls that sign with it fail. */
  hasKey(): Promise<boolean>
  app(): Promise<AppAtHost>
  /** Whether accounts other than its owner's may install the App; `null` when the host does not say, or when there is no App. */
  isPublic(): Promise<boolean | null>
  /** The installations of the App, up to 1,000. */
  installations(): Promise<readonly Installation[]>
  installationRequests(): Promise<readonly InstallationRequest[]>
  /**
   * A token of the installation, with no more access than requested; cached and shared until it expires. Throws `invalid` when a repository is not in
   * the installation or a permission was not granted. `fresh` bypasses the cache, after a change of permissions.
   */
  installationToken(request: {
    readonly installationId: string
    /** The id of the repository; `null` for all repositories of the installation. */
    readonly repositoryId: string | null
    readonly permissions: AppPermissions
    readonly fresh?: boolean
  }): Promise<string>
  /** The installations that the token's owner can see, up to 200. */
  installationsOf(accessToken: string): Promise<InstallationsOfPerson>
  /** The installation's repositories that the token's owner can access. Throws `forbidden` while the installation is suspended. */
  repositoriesOf(
    accessToken: string,
    query: { readonly installationId: string; readonly ids: boolean },
  ): Promise<InstalledRepositories>
  /** The number of repositories of the token's installation. */
  repositoryCount(installationToken: string): Promise<number>
  /** Failed deliveries, newest first, in pages: `null` requests the first page, and marks the last in the answer. */
  failedDeliveries(
    cursor: string | null,
  ): Promise<{ readonly deliveries: readonly HostDelivery[]; readonly next: string | null }>
  /** The payload of a delivery. Throws `not_found` once the host has dropped it. */
  deliveryPayload(id: string): Promise<unknown>
  /** The latest deliveries, newest first, at most 50. */
  deliveries(): Promise<readonly HostDelivery[]>
  /** The rate limit of the token's holder. This request does not count against it. */
  rateLimit(accessToken: string): Promise<RateLimit>
}
