/** The GitHub App by which the product acts at the code host. */

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
