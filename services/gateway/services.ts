/** The services that the gateway uses. */
import type { Engines } from '#platform/compose.ts'
import type { Middleware } from 'koa'
import type { AgentState } from '#domain/api/server.schema.ts'
import type { Details } from '#platform/http/health.ts'
import type { SandboxPorts } from '#platform/ports/listeningPorts.ts'

export type GatewayServices = Pick<
  Engines,
  | 'commands'
  | 'ballast'
  | 'documents'
  | 'bus'
  | 'rpc'
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
  /** The address at which people reach the server; `null` for a loopback name taken from each request. */
  readonly publicUrl: string | null
  /** The host name below which the previews of tasks have their names; `null` when previews have only loopback names, or are not served. */
  readonly previewHost: string | null
  /** The sandboxes of this process; `null` when its runners are elsewhere. */
  readonly sandboxes: SandboxPorts | null
  /** How many of our proxies are in front of the gateway. Each appends to `X-Forwarded-For`. */
  readonly proxies: number
  /** The maximum number of connections without a signed-in person from one client address. */
  readonly strangersOfAddress: number
  /** The maximum number of requests per person and minute; `null` for no limit. */
  readonly requestsAMinute: number | null
  /** The name of the code host, from which user ids are computed, so that accounts of different hosts never get the same id. */
  readonly codeHostName: string
  /** The origins from which the code host serves people's pictures. */
  readonly pictureOrigins: readonly string[]
  /** Whether people may register and sign in with a password. */
  readonly passwordSignIn: boolean
  /**
   * Secrets by which the code host signs its deliveries: the current one, and a previous one that is still valid. Empty when there are no deliveries.
   */
  readonly webhookSecrets: () => Promise<readonly string[]>
  readonly webFolder: string
  readonly verifierFile: string
  /** The texts of the banners on every page. */
  readonly notices: () => readonly string[]
  /** The agents' states as reported by the connected runners. */
  readonly agents: () => Promise<readonly AgentState[]>
  /** `query` answers reads below `/api`, and `command` answers writes: in this process, or as a proxy to the services. */
  readonly query: Middleware
  readonly command: Middleware
  /** The parts that `/readyz` checks; each throws when it is not ready. */
  readonly parts: ReadonlyMap<string, () => Promise<void>>
  /** Additional details that `/readyz` shows. */
  readonly details: Details
}
