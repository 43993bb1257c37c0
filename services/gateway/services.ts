/** What the gateway works with. */
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
  /** Where people reach us; `null` keeps the loopback name they used. */
  readonly publicUrl: string | null
  /** How many proxies of ours are in front, each of which adds to `X-Forwarded-For`. */
  readonly proxies: number
  /** Connections of one address on which nobody has signed in. */
  readonly strangersOfAddress: number
  /** Requests a minute that a person may make; `null`: any number. */
  readonly requestsAMinute: number | null
  /** Names the code host in user ids: accounts of two hosts never meet. */
  readonly codeHostName: string
  /** Where the code host has the pictures of people. */
  readonly pictureOrigins: readonly string[]
  /** Whether people may register and sign in with a password. */
  readonly passwordSignIn: boolean
  /** What the code host signs its deliveries with: the current secret, and one before it that still counts; none: no deliveries. */
  readonly webhookSecrets: () => Promise<readonly string[]>
  readonly webFolder: string
  readonly verifierFile: string
  /** What a banner on every page says. */
  readonly notices: () => readonly string[]
  /** What the runners that are there report about the agents. */
  readonly agents: () => Promise<readonly AgentState[]>
  /** Answers reads and writes below `/api`: in this process, or as a proxy to the services. */
  readonly query: Middleware
  readonly command: Middleware
  /** The parts that `/readyz` asks; each throws when it is not ready. */
  readonly parts: ReadonlyMap<string, () => Promise<void>>
  /** Details that `/readyz` shows besides. */
  readonly details: Details
}
