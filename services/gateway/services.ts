/** The services and settings of the gateway. */
import type { Engines } from '#platform/compose.ts'
import type { Middleware } from 'koa'
import type { AgentState } from '#domain/api/server.schema.ts'
import type { Details } from '#platform/http/health.ts'

export type GatewayServices = Pick<
  Engines,
  | 'commands'
  | 'ballast'
  | 'documents'
  | 'bus'
  | 'eventStore'
  | 'log'
  | 'projected'
  | 'idempotency'
  | 'recentKeys'
  | 'blobs'
  | 'words'
  | 'imageAddresses'
  | 'access'
  | 'accessControl'
  | 'codeHost'
  | 'codeHostApps'
  | 'hostApp'
  | 'installations'
  | 'leases'
  | 'sessions'
  | 'modelKeys'
  | 'vault'
  | 'ids'
  | 'clock'
  | 'logger'
  | 'emit'
>

export interface GatewayOptions {
  readonly host: string
  readonly port: number
  /** The address by which people reach us; `null` keeps the loopback name that they used. */
  readonly publicUrl: string | null
  /** How many proxies of ours are in front, each of which adds to `X-Forwarded-For`. */
  readonly proxies: number
  /** How many connections one address may have on which nobody has signed in. */
  readonly strangersOfAddress: number
  /** Requests a minute that a person may make; `null`: any number. */
  readonly requestsAMinute: number | null
  /** Names the code host in user ids: accounts of two hosts never meet. */
  readonly codeHostName: string
  /** The origins from which the code host serves people's pictures. */
  readonly pictureOrigins: readonly string[]
  /** Whether people may register and sign in with a password. */
  readonly passwordSignIn: boolean
  /**
   * The secrets with which the code host signs its deliveries: the current one, and the one before it if that is still valid. Without any, there are
   * no deliveries.
   */
  readonly webhookSecrets: () => Promise<readonly string[]>
  readonly webFolder: string
  readonly verifierFile: string
  /** The sentences of the banner on every page. */
  readonly notices: () => readonly string[]
  /** The reports of the connected runners about the agents. */
  readonly agents: () => Promise<readonly AgentState[]>
  /** Answers reads and writes below `/api`, in this process or as a proxy to the services. */
  readonly query: Middleware
  readonly command: Middleware
  /** The checks of `/readyz`; each throws when its part is not ready. */
  readonly parts: ReadonlyMap<string, () => Promise<void>>
  /** Further details that `/readyz` shows. */
  readonly details: Details
}
