/**
 * Chooses the adapter behind each port (an interface in `ports/`); no other file knows the adapters. The drivers for a shared MongoDB, EventStoreDB
 * or NATS are large, so they are loaded only when they are used.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkBlob, openFileBlobs } from '#platform/blobs/files.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { openSqliteJobs } from '#platform/jobs/sqlite.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { githubApps } from '#platform/codehost/githubApps.ts'
import { requestsTo } from '#platform/codehost/request.ts'
import {
  localApp,
  localCredentials,
  hostApp,
  type LocalCredentials,
  type HostApp,
} from '#platform/credentials/hostApp.ts'
import { installations, type Installations } from '#platform/credentials/installations.ts'
import type { LogIdentity } from '#domain/log.ts'
import { commands, type Commands } from '#platform/commands/execute.ts'
import { documents, served, type Documents } from '#platform/reads/documents.ts'
import { eventLog, type EventLog } from '#platform/eventlog/eventLog.ts'
import { openKnownLog } from '#platform/eventlog/logIdentity.ts'
import { quarantiner } from '#platform/eventlog/quarantine.ts'
import { projected, type Projected } from '#platform/reads/projectionWait.ts'
import { sealedBlobs, type SealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { idempotency, type Idempotency } from '#platform/commands/idempotency.ts'
import { codeHostName, tokenOf, type Config } from '#platform/config/config.ts'
import { keepBallast, noBallast, type Ballast } from '#platform/dataFolder/ballast.ts'
import { codeHostAddresses } from '#platform/config/addresses.ts'
import { holdDataFolder } from '#platform/dataFolder/lock.ts'
import { openAccessControl, type AccessControl } from '#platform/access/accessControl.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import type { CodeHostApps } from '#platform/ports/codeHostApp.ts'
import { hostAccess, type HostAccess } from '#platform/credentials/hostAccess.ts'
import { liveWords, type LiveWords } from '#platform/live/liveWords.ts'
import { imageAddresses, type ImageAddresses } from '#platform/images/addresses.ts'
import { sessions, type Sessions } from '#platform/http/session.ts'
import { openInProcessLeases } from '#platform/leases/inProcess.ts'
import type { Logger } from '#platform/log.ts'
import type { Mongo } from '#platform/engines/mongoConnection.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { UnusableEngine, UnusableMasterKey, type ReportFault } from '#platform/ports/faults.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import type { Rpc } from '#platform/ports/rpc.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { modelKeys, type ModelKeys } from '#platform/credentials/modelKeys.ts'
import { mcpHeaders, projectSecrets, type ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import { mcpNetwork } from '#platform/mcp/oauth.ts'
import { mcpSignIns, type McpSignIns } from '#platform/mcp/signIns.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { sealsFile } from '#platform/seals/sealsFile.ts'
import { openSqliteRecentKeys } from '#platform/recentKeys/sqlite.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { requireProgress } from '#platform/telemetry/projectionProgress.ts'
import { observedJobs, observedLog } from '#platform/telemetry/instrumentation.ts'
import { setUpTelemetry, type Telemetry } from '#platform/telemetry/setUpTelemetry.ts'

interface Ports {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly bus: Bus
  readonly jobs: Jobs
  readonly rpc: Rpc
  readonly blobs: Blobs
  readonly vault: Vault
  readonly leases: Leases
  readonly recentKeys: RecentKeys
}

/** Everything that services work with: the ports, and shared parts that are built on them. */
export interface Engines extends Omit<Ports, 'blobs'>, Pick<Telemetry, 'emit' | 'metrics'> {
  readonly codeHost: CodeHost
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly log: EventLog
  readonly logIdentity: LogIdentity
  /**
   * Why the stream that holds the log's identity cannot be read, in a sentence; `null` when it can. If it cannot, `logIdentity` comes from a copy
   * outside of the log or, without a copy, stands for an unknown log.
   */
  readonly logDamage: string | null
  readonly commands: Commands
  readonly idempotency: Idempotency
  readonly documents: Documents
  readonly projected: Projected
  readonly blobs: SealedBlobs
  readonly words: LiveWords
  readonly imageAddresses: ImageAddresses
  /** Our App at the code host: its registration, its data at the host, and its installations. */
  readonly hostApp: HostApp
  readonly codeHostApps: CodeHostApps
  readonly installations: Installations
  readonly access: HostAccess
  readonly accessControl: AccessControl
  readonly projectSecrets: ProjectSecrets
  readonly mcpHeaders: ProjectSecrets
  readonly mcpSignIns: McpSignIns
  readonly modelKeys: ModelKeys
  readonly sessions: Sessions
  /** The product's credentials at the local code host; `null` with GitHub. */
  readonly localCodeHost: LocalCredentials | null
  readonly ballast: Ballast
  /** The checks of `/readyz`, by name. */
  readonly parts: ReadonlyMap<string, () => Promise<void>>
  close(): Promise<void>
}

/** The part of the configuration that says where data is stored. */
export type StoresConfig = Pick<Config, 'dataDir' | 'engines' | 'masterKey'>

/** What opening an engine needs. */
export interface Opening {
  readonly config: StoresConfig
  readonly clock: Clock
  readonly onFault: ReportFault
  readonly onWaiting: (line: string) => void
  /** Registers an engine. It is closed only after all engines that are registered later. */
  keep<T extends { close(): Promise<void> }>(engine: T): T
  at(name: string): string
}

/**
 * Opens the engines that the configuration names: shared ones, which have an address, and otherwise embedded ones in the data folder. Waits for a
 * shared engine that is not available yet, and says so with `onWaiting`. Throws an error with a sentence for the operator, for example when the
 * folder is in use, the data has a newer format, or the master key, an address or credentials are wrong.
 */
export async function openEngines(
  config: Config,
  logger: Logger,
  onWaiting?: (line: string) => void,
): Promise<Engines> {
  const release = needsFolder(config) ? holdDataFolder(config.dataDir) : () => undefined
  const { opening, close: closeEngines } = beginOpening(config, logger, onWaiting)
  const { clock } = opening
  const close = async () => {
    await closeEngines()
    release()
  }
  try {
    const ports = await openPorts(opening)
    // A process without services, such as one that checks the log, ends too soon to need a reserve of disk space.
    const ballast = needsFolder(config) && config.services.size > 0 ? keepBallast(config, logger) : noBallast
    opening.keep(ballast)
    return await onPorts(ports, { config, clock, logger, ballast, close })
  } catch (fault) {
    await close()
    throw fault
  }
}

/** The stores that a thread or an operator's command opens for itself. */
export interface OwnStores {
  readonly vault: Vault
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly log: EventLog
  close(): Promise<void>
}

/** Opens the stores of `OwnStores`, even while `openEngines` has them open too. */
export async function openStores(config: StoresConfig, logger: Logger): Promise<OwnStores> {
  const { opening, close } = beginOpening(config, logger)
  const { clock, onFault, keep } = opening
  try {
    const { vault, readStore } = await openKeysAndViews(opening)
    const eventStore = await openEventStore(opening)
    const bus = keep(openInProcessBus({ onFault }))
    return { vault, eventStore, readStore, log: eventLog({ eventStore, vault, bus, clock }), close }
  } catch (fault) {
    await close()
    throw fault
  }
}

/** Begins to open engines: `close` closes all of them, the last first. */
export function beginOpening(
  config: StoresConfig,
  logger: Logger,
  onWaiting: (line: string) => void = (line) => logger.warn(line),
) {
  const opened: { close(): Promise<void> }[] = []
  const opening: Opening = {
    config,
    clock: { now: () => new Date() },
    onFault: (what, fault) => logger.error({ err: fault }, what),
    onWaiting,
    keep: (engine) => {
      opened.push(engine)
      return engine
    },
    at: (name) => join(config.dataDir, name),
  }
  const close = async () => {
    for (const engine of opened.toReversed()) await engine.close()
  }
  return { opening, close }
}

/** Checks one blob in a folder that another process may have open. */
export { checkBlob }

/** Opens only the read models, even while another process has the data folder. */
export async function openReadModels(
  config: StoresConfig,
  onWaiting: (line: string) => void,
): Promise<ReadStore> {
  const { mongo: url } = config.engines
  if (url === null) {
    const file = join(config.dataDir, 'views.sqlite')
    if (!existsSync(file))
      throw new UnusableEngine(
        `There are no read models in ${config.dataDir}. They are built when Flightdeck next starts.`,
      )
    return openSqliteReadStore({ file, served })
  }
  const mongo = await openMongo({ url, onWaiting })
  const readStore = await readStoreIn(mongo)
  return {
    ...readStore,
    async close() {
      await readStore.close()
      await mongo.close()
    },
  }
}

/** Whether the process needs a data folder: shared engines hold everything but workspaces and the local code host's repositories. */
function needsFolder({ engines, services }: Config): boolean {
  const hasEmbedded = engines.eventStore === null || engines.mongo === null || engines.nats === null
  return hasEmbedded || services.has('runner') || services.has('codehost')
}

async function openPorts(opening: Opening): Promise<Ports> {
  const { nats: natsUrl } = opening.config.engines
  const stored = await openStored(opening)
  const eventStore = await openEventStore(opening)
  const told = natsUrl === null ? busInProcess(opening) : await busOnNats(opening, natsUrl)
  return { ...stored, eventStore, ...told }
}

export function openStored(opening: Opening): Promise<Stores> {
  const { mongo } = opening.config.engines
  return mongo === null ? storesInFolder(opening) : storesInMongo(opening, mongo)
}

export async function openEventStore({ config, keep, at, onFault, onWaiting }: Opening): Promise<EventStore> {
  const { eventStore: url } = config.engines
  if (url === null) return keep(openSqliteEventStore({ file: at('events.sqlite'), onFault }))
  const { openEventStoreDb } = await import('#platform/eventstore/eventStoreDb.ts')
  return keep(await openEventStoreDb({ url, onFault, onWaiting }))
}

async function openMongo(options: { url: string; onWaiting: (line: string) => void }): Promise<Mongo> {
  const connection = await import('#platform/engines/mongoConnection.ts')
  return connection.openMongo(options)
}

async function readStoreIn(mongo: Mongo): Promise<ReadStore> {
  const { openMongoReadStore } = await import('#platform/readstore/mongodb.ts')
  return openMongoReadStore({ mongo, served })
}

export type Stores = Pick<Ports, 'readStore' | 'blobs' | 'vault' | 'leases' | 'recentKeys'>

type KeysAndViews = Pick<Stores, 'vault' | 'readStore'>

async function openKeysAndViews(opening: Opening): Promise<KeysAndViews> {
  const { config, keep, onWaiting } = opening
  const { mongo: url } = config.engines
  return url === null
    ? keysAndViewsInFolder(opening)
    : keysAndViewsInMongo(opening, keep(await openMongo({ url, onWaiting })))
}

async function keysAndViewsInFolder({ config, keep, at }: Opening): Promise<KeysAndViews> {
  refuseLostKey(config, at)
  const masterKey = await loadMasterKey({ configured: config.masterKey, file: at('master.key') })
  return {
    vault: keep(openSqliteVault({ file: at('vault.sqlite'), masterKey })),
    readStore: keep(openSqliteReadStore({ file: at('views.sqlite'), served })),
  }
}

async function keysAndViewsInMongo({ config, keep, at }: Opening, mongo: Mongo): Promise<KeysAndViews> {
  const masterKey = await loadMasterKey({ configured: config.masterKey, file: at('master.key') })
  const { openMongoVault } = await import('#platform/vault/mongodb.ts')
  return {
    // The vault is opened first, so that a process with a wrong key writes nothing.
    vault: keep(await openMongoVault({ mongo, masterKey })),
    readStore: keep(await readStoreIn(mongo)),
  }
}

async function storesInFolder(opening: Opening): Promise<Stores> {
  const { keep, at, clock, onFault } = opening
  mkdirSync(at('blobs'), { recursive: true, mode: 0o700 })
  return {
    ...(await keysAndViewsInFolder(opening)),
    blobs: keep(openFileBlobs({ folder: at('blobs') })),
    leases: keep(openInProcessLeases({ onFault })),
    recentKeys: keep(openSqliteRecentKeys({ file: at('keys.sqlite'), clock })),
  }
}

async function storesInMongo(opening: Opening, url: string): Promise<Stores> {
  const { clock, keep, onFault, onWaiting } = opening
  const mongo = keep(await openMongo({ url, onWaiting }))
  const [{ openGridFsBlobs }, { openMongoLeases }, { openMongoRecentKeys }] = await Promise.all([
    import('#platform/blobs/gridFs.ts'),
    import('#platform/leases/mongodb.ts'),
    import('#platform/recentKeys/mongodb.ts'),
  ])
  return {
    ...(await keysAndViewsInMongo(opening, mongo)),
    blobs: keep(await openGridFsBlobs({ mongo, clock })),
    leases: keep(openMongoLeases({ mongo, onFault })),
    recentKeys: keep(await openMongoRecentKeys({ mongo, clock })),
  }
}

function busInProcess({ keep, at, clock, onFault }: Opening): Pick<Ports, 'bus' | 'jobs' | 'rpc'> {
  return {
    jobs: keep(openSqliteJobs({ file: at('jobs.sqlite'), clock, onFault })),
    bus: keep(openInProcessBus({ onFault })),
    rpc: keep(openInProcessRpc({ onFault })),
  }
}

/** Opens the bus, the calls between processes and the queue on NATS. */
export async function busOnNats(
  { keep, onFault, onWaiting }: Opening,
  url: string,
): Promise<Pick<Ports, 'bus' | 'jobs' | 'rpc'>> {
  const [{ openNats }, { natsBus }, { natsRpc }, { openNatsJobs }] = await Promise.all([
    import('#platform/bus/natsConnection.ts'),
    import('#platform/bus/nats.ts'),
    import('#platform/bus/rpcNats.ts'),
    import('#platform/jobs/nats.ts'),
  ])
  const nats = keep(await openNats({ url, onFault, onWaiting }))
  return {
    bus: keep(natsBus({ nats, onFault })),
    rpc: keep(natsRpc({ nats, onFault })),
    jobs: keep(await openNatsJobs({ nats, onFault, onWaiting })),
  }
}

type Composing = Pick<Engines, 'clock' | 'logger' | 'ballast' | 'close'> & { readonly config: Config }

async function onPorts(ports: Ports, { config, clock, logger, ballast, close }: Composing): Promise<Engines> {
  const { eventStore, readStore, bus, vault, blobs } = ports
  const ids: Ids = { uuid: () => randomUUID() }
  const localCodeHost = config.codeHost.kind === 'local' ? localCredentials(config, vault) : null
  const configured =
    config.codeHost.kind === 'github' ? config.codeHost.app : localCodeHost && localApp(localCodeHost)
  const app = hostApp({
    ...ports,
    configured,
    codeHostName: codeHostName(config),
    clock,
  })
  const addresses = codeHostAddresses(config, config.codeHost)
  const { serverUrl } = addresses
  // Only GitHub requires a pause between writes.
  const paced = config.codeHost.kind === 'github'
  const requests = requestsTo({ ...addresses, paced, hasOwnToken: tokenOf(config) !== undefined, bus })
  const codeHost = githubCodeHost({ serverUrl, requests, app: app.current, ownToken: tokenOf(config) })
  const codeHostApps = githubApps({ serverUrl, requests, app: app.current })
  const installed = installations({ apps: codeHostApps, bus, clock, logger })
  const telemetry = await setUpTelemetry(config, logger)
  const { emit, metrics } = telemetry
  const setAside = quarantiner(readStore, logger)
  const log = observedLog(eventLog({ ...ports, clock, setAside }), emit)
  const follow = projected({ bus, readStore, eventStore })
  const execution = commands(log, emit)
  const beside = { readStore, sealsFile: sealsFile(config.seals.file) }
  const known = await openKnownLog({ ...beside, commands: execution, eventStore, setAside })
  const docs = documents(readStore, log)
  const access = hostAccess({ vault, codeHost, clock, leases: ports.leases })
  const entering = { list: config.allowed, codeHostName: codeHostName(config) }
  return {
    ...ports,
    jobs: observedJobs(ports.jobs, emit),
    emit,
    metrics,
    codeHost,
    clock,
    ids,
    logger,
    log,
    ...known,
    commands: execution,
    idempotency: idempotency({ recentKeys: ports.recentKeys, vault }),
    documents: docs,
    projected: follow,
    blobs: sealedBlobs({ blobs, vault }),
    words: liveWords({ bus, vault, logger }),
    imageAddresses: imageAddresses({ vault, clock }),
    hostApp: app,
    codeHostApps,
    installations: installed,
    access,
    accessControl: openAccessControl(entering, { documents: docs, access, codeHost, vault, clock, logger }),
    projectSecrets: projectSecrets({ vault }),
    mcpHeaders: mcpHeaders({ vault }),
    mcpSignIns: mcpSignIns({ ...ports, clock }, mcpNetwork(config, serverUrl)),
    modelKeys: modelKeys({ vault }),
    sessions: sessions({ vault, clock, ids }, known.logIdentity),
    localCodeHost,
    ballast,
    parts: partsOf(ports, { config, clock, ballast }),
    async close() {
      follow.close()
      installed.close()
      app.close()
      await close()
      await telemetry.close()
    },
  }
}

function partsOf(ports: Ports, { config, clock, ballast }: Omit<Composing, 'close' | 'logger'>) {
  return new Map([
    ...Object.entries(ports).map(([name, part]) => [name, () => part.ready()] as const),
    ...(needsFolder(config) ? [['disk', ballast.ready] as const] : []),
    ...(config.services.has('query')
      ? [['projection', () => requireProgress({ ...ports, clock })] as const]
      : []),
  ])
}

/** Throws when the master key is missing although there is data. A new key could not open the vault, but would remain as if it were the right one. */
function refuseLostKey(config: StoresConfig, at: (name: string) => string): void {
  if (config.masterKey !== undefined || existsSync(at('master.key')) || !existsSync(at('vault.sqlite')))
    return
  throw new UnusableMasterKey(
    `${at('master.key')} is gone, and the data was sealed under it. Put its copy back, or give the key as MASTER_KEY.`,
  )
}
