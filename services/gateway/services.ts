/** What the gateway works with. */
import type { Ballast } from '#platform/config/ballast.ts'
import type { Middleware } from 'koa'
import type { AgentState } from '#domain/api/server.schema.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { Idempotency } from '#platform/commands/idempotency.ts'
import type { SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import type { Projected } from '#platform/reads/projected.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import type { HostAccess } from '#platform/credentials/hostAccess.ts'
import type { Installations } from '#platform/credentials/installations.ts'
import type { HostApp } from '#platform/credentials/hostApp.ts'
import type { CodeHostApps } from '#platform/ports/codeHostApp.ts'
import type { ImageAddresses } from '#platform/images/addresses.ts'
import type { Details } from '#platform/http/health.ts'
import type { Sessions } from '#platform/http/session.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { LiveWords } from '#platform/eventlog/liveWords.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Emit } from '#platform/telemetry/telemetry.ts'

export interface GatewayServices {
  readonly commands: Commands
  readonly ballast: Pick<Ballast, 'isFull'>
  readonly documents: Documents
  readonly bus: Bus
  readonly eventStore: EventStore
  readonly log: EventLog
  readonly projected: Projected
  readonly idempotency: Idempotency
  readonly recentKeys: RecentKeys
  readonly blobs: SealedBlobs
  readonly words: LiveWords
  readonly imageAddresses: ImageAddresses
  readonly access: HostAccess
  readonly accessControl: AccessControl
  readonly codeHost: CodeHost
  readonly codeHostApps: CodeHostApps
  readonly hostApp: HostApp
  readonly installations: Pick<Installations, 'isKeyRefused'>
  readonly leases: Pick<Leases, 'hold'>
  readonly sessions: Sessions
  readonly vault: Vault
  readonly ids: Ids
  readonly clock: Clock
  readonly logger: Logger
  readonly emit: Emit
}

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
  /** The built client. */
  readonly webFolder: string
  /** The built verifier of audit bundles. */
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
