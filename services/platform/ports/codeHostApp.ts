/** The GitHub App by which the product acts at the code host. */

import type { AppPermissions } from '#domain/appPermissions.ts'

/** An App as the code host registered it. `clientSecret`, `privateKey` and `webhookSecret` are secrets. */
export interface AppRegistration {
  /** The host's numeric id, as a decimal string; `null` where an operator gave none: then there are no installation tokens. */
  readonly appId: string | null
  /** Its name in addresses: `https://github.com/apps/<slug>`. */
  readonly slug: string
  readonly name: string
  /** Its page at the host; `null` where it is only known by its slug. */
  readonly htmlUrl: string | null
  readonly clientId: string
  readonly clientSecret: string
  /** PEM; `null`: none, so that people's own tokens do everything. */
  readonly privateKey: string | null
  /** What its deliveries are signed with; `null`: it has no webhook. */
  readonly webhookSecret: string | null
}

/** The registration now, asked for at each use; `undefined` while there is none. */
export type CurrentApp = () => Promise<AppRegistration | undefined>

/** Whose repositories an installation has. */
export interface InstallationAccount {
  readonly id: string
  readonly login: string
  readonly isOrganization: boolean
  readonly avatarUrl: string
}

/** The App in one account. */
export interface Installation {
  readonly id: string
  readonly account: InstallationAccount
  /** What its owner granted, which may lag behind what the App asks for. */
  readonly permissions: AppPermissions
  /** All repositories of the account, or those that its owner chose. */
  readonly repositories: 'all' | 'selected'
  /** ISO 8601; `null`: it is not suspended. */
  readonly suspendedAt: string | null
  /** The page on which its owner changes it. */
  readonly htmlUrl: string
}

/** What the App is at the host now. */
export interface AppAtHost {
  readonly slug: string
  readonly name: string
  readonly htmlUrl: string
  /** Where its owner changes what it asks for. */
  readonly permissionsUrl: string
  readonly owner: { readonly login: string; readonly isOrganization: boolean }
  readonly permissions: AppPermissions
  readonly events: readonly string[]
}

/** Somebody asked an owner to install the App. Who that is their id says: logins change hands. */
export interface InstallationRequest {
  readonly account: string
  readonly requester: string
  readonly requesterId: string
}

/** Repositories of an installation. */
export interface InstalledRepositories {
  readonly count: number
  /** Up to 300; empty where only the count was asked for. */
  readonly ids: readonly string[]
  /** Whether there are more than those ids, where they were asked for. */
  readonly isCut: boolean
}

/** The first of the installations that a person sees, and how many there are. */
export interface InstallationsOfPerson {
  readonly installations: readonly Installation[]
  readonly count: number
}

/** A delivery of a webhook as the host remembers it. */
export interface HostDelivery {
  readonly id: string
  readonly guid: string
  readonly deliveredAt: string
  readonly event: string
  readonly action: string | null
  readonly succeeded: boolean
  readonly redelivery: boolean
}

/** What can be left of a limit; times in ISO 8601. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: string
}

/**
 * What the code host knows of the App itself. Calls without a token sign with the App's key, and throw `setup_required` where there is no App
 * or no key. All throw CodeHostFault. Held by `tests/contracts/codeHost.apps.spec.ts`.
 */
export interface CodeHostApps {
  /** Where a form with a field `manifest` makes an App, for the browser that came by `origin`; `organization`: not for the person. */
  newAppUrl(request: { origin: string; state: string; organization: string | null }): string
  /** The App that a manifest led to. The code works once, within the hour. */
  convertManifest(code: string): Promise<AppRegistration>
  /** Whether the App has a key, so that the other calls can do something. */
  hasKey(): Promise<boolean>
  app(): Promise<AppAtHost>
  /** Whether other accounts than its owner's may install the App; `null` where the host does not say, or there is no App. */
  isPublic(): Promise<boolean | null>
  /** Up to 1,000. */
  installations(): Promise<readonly Installation[]>
  installationRequests(): Promise<readonly InstallationRequest[]>
  /**
   * A token of the installation, no wider than asked; kept and shared until it runs out. `invalid` where a repository is not in the installation
   * or a permission was not granted; `fresh` asks for a new one, after a change of what was granted.
   */
  installationToken(request: {
    readonly installationId: string
    /** `null`: all of the installation. */
    readonly repositoryId: string | null
    readonly permissions: AppPermissions
    readonly fresh?: boolean
  }): Promise<string>
  /** The installations that the person of the token can see, up to 200. */
  installationsOf(accessToken: string): Promise<InstallationsOfPerson>
  /** What of the installation the person of the token reaches. `forbidden` while it is suspended. */
  repositoriesOf(
    accessToken: string,
    asked: { readonly installationId: string; readonly ids: boolean },
  ): Promise<InstalledRepositories>
  /** How many repositories the installation of the token has. */
  repositoryCount(installationToken: string): Promise<number>
  /** Deliveries that failed, newest first, a page at a time: `null` asks for the first page, and follows the last. */
  failedDeliveries(
    cursor: string | null,
  ): Promise<{ readonly deliveries: readonly HostDelivery[]; readonly next: string | null }>
  /** What a delivery carried. `not_found` once the host has forgotten it. */
  deliveryPayload(id: string): Promise<unknown>
  /** The latest deliveries, newest first, at most 50. */
  deliveries(): Promise<readonly HostDelivery[]>
  /** What is left to the holder of the token. Asking costs nothing. */
  rateLimit(accessToken: string): Promise<RateLimit>
}
