/** Picks the adapters: the only place that knows which engine stands behind a port. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openFileBlobs } from '#platform/blobs/files.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { openSqliteJobs } from '#platform/bus/jobsSqlite.ts'
import { githubCodeHost } from '#platform/codehost/github.ts'
import { commands, type Commands } from '#platform/commands/execute.ts'
import { collections, documents, type Documents } from '#platform/commands/documents.ts'
import { eventLog, type EventLog } from '#platform/commands/eventLog.ts'
import { projected, type Projected } from '#platform/commands/projected.ts'
import { sealedBlobs, type SealedBlobs } from '#platform/commands/sealedBlobs.ts'
import type { CodeHostConfig, Config } from '#platform/config.ts'
import { holdDataFolder } from '#platform/dataFolder.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { hostAccess, type HostAccess } from '#platform/hostAccess.ts'
import { sessions, type Sessions } from '#platform/http/session.ts'
import type { Logger } from '#platform/log.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { UnusableMasterKey } from '#platform/ports/faults.ts'
import type { Ids } from '#platform/ports/ids.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'

/** Everything the services work with: the ports, and what is built on them once. */
export interface Engines {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly bus: Bus
  readonly jobs: Jobs
  readonly vault: Vault
  readonly codeHost: CodeHost
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  readonly log: EventLog
  readonly commands: Commands
  readonly documents: Documents
  readonly projected: Projected
  readonly blobs: SealedBlobs
  readonly access: HostAccess
  readonly sessions: Sessions
  /** The credentials of the product at the local code host; `null` with GitHub itself. */
  readonly localCodeHost: { readonly clientId: string; readonly clientSecret: string } | null
  /** By name, what `/readyz` asks. */
  readonly parts: ReadonlyMap<string, () => Promise<void>>
  close(): Promise<void>
}

const localClientId = 'flightdeck-local'

/** Opens the embedded engines in the data folder. Throws sentences: the folder in use, a newer format, a wrong master key. */
export async function openEngines(config: Config, logger: Logger): Promise<Engines> {
  const release = holdDataFolder(config.dataDir)
  const opened: { close(): Promise<void> }[] = []
  const keep = <T extends { close(): Promise<void> }>(engine: T): T => {
    opened.push(engine)
    return engine
  }
  const close = async () => {
    for (const engine of opened.toReversed()) await engine.close()
    release()
  }
  try {
    return await open()
  } catch (fault) {
    await close()
    throw fault
  }

  async function open(): Promise<Engines> {
    const at = (name: string) => join(config.dataDir, name)
    const clock: Clock = { now: () => new Date() }
    const ids: Ids = { uuid: () => randomUUID() }
    const onFault = (what: string, fault: unknown) => logger.error({ err: fault }, what)
    mkdirSync(at('blobs'), { recursive: true })

    refuseLostKey(config, at)
    const masterKey = await loadMasterKey({ configured: config.masterKey, file: at('master.key') })
    const vault = keep(openSqliteVault({ file: at('vault.sqlite'), masterKey }))
    const eventStore = keep(openSqliteEventStore({ file: at('events.sqlite'), onFault }))
    const readStore = keep(openSqliteReadStore({ file: at('views.sqlite') }))
    const jobs = keep(openSqliteJobs({ file: at('jobs.sqlite'), clock, onFault }))
    const bus = keep(openInProcessBus({ onFault }))
    const blobs: Blobs = keep(openFileBlobs({ folder: at('blobs') }))
    await readStore.prepare(collections)

    const localCodeHost =
      config.codeHost.kind === 'local'
        ? {
            clientId: localClientId,
            clientSecret: Buffer.from(vault.deriveKey('local-code-host')).toString('base64url'),
          }
        : null
    const codeHost = githubCodeHost(codeHostOptions(config, config.codeHost, localCodeHost))
    const log = eventLog({ eventStore, vault, bus, clock })
    const follow = projected({ bus, readStore })
    return {
      eventStore,
      readStore,
      bus,
      jobs,
      vault,
      codeHost,
      clock,
      ids,
      logger,
      log,
      commands: commands(log),
      documents: documents(readStore, log),
      projected: follow,
      blobs: sealedBlobs({ blobs, vault }),
      access: hostAccess({ vault, codeHost, clock }),
      sessions: sessions({ vault, clock, ids }),
      localCodeHost,
      parts: new Map(
        Object.entries({ eventStore, readStore, bus, jobs, blobs, vault }).map(([name, part]) => [
          name,
          () => part.ready(),
        ]),
      ),
      async close() {
        follow.close()
        await close()
      },
    }
  }
}

/** A new key beside old data would only be refused by the vault, and stay behind as if it were the right one. */
function refuseLostKey(config: Config, at: (name: string) => string): void {
  if (config.masterKey !== undefined || existsSync(at('master.key')) || !existsSync(at('vault.sqlite')))
    return
  throw new UnusableMasterKey(
    `${at('master.key')} is gone, and the data was sealed under it. Put its copy back, or give the key as MASTER_KEY.`,
  )
}

function codeHostOptions(config: Config, codeHost: CodeHostConfig, local: Engines['localCodeHost']) {
  if (codeHost.kind === 'github') return codeHost
  const serverUrl = `http://localhost:${config.codeHostPort}`
  const apiUrl = `http://127.0.0.1:${config.codeHostPort}/api/v3`
  return { serverUrl, apiUrl, clientId: local?.clientId ?? '', clientSecret: local?.clientSecret ?? '' }
}
