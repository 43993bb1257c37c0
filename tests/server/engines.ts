/** The embedded engines on a folder that is removed with the test, opened as by `compose.ts`. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileBlobs } from '#platform/blobs/files.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { openSqliteJobs } from '#platform/jobs/sqlite.ts'
import type { LogIdentity } from '#domain/log.ts'
import { documents, served, type Documents } from '#platform/reads/documents.ts'
import { eventLog, type EventLog } from '#platform/eventlog/eventLog.ts'
import { commands, type Commands } from '#platform/commands/execute.ts'
import type { AccessControl } from '#platform/access/accessControl.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { logger, type Logger } from '#platform/log.ts'
import type { Blobs } from '#platform/ports/blobs.ts'
import type { Bus } from '#platform/ports/bus.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Jobs } from '#platform/ports/jobs.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import { openSqliteRecentKeys } from '#platform/recentKeys/sqlite.ts'
import { changeCatalog, type ReadStore } from '#platform/ports/readStore.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { mcpHeaders, projectSecrets, type ProjectSecrets } from '#platform/credentials/projectSecrets.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { views } from '#domain/views/registry.ts'
import * as generations from '../../services/query/projection/catalogChanges.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { noTelemetry, type Emit } from '#platform/telemetry/telemetry.ts'
import { patienceMs } from '../patience.ts'

export interface TestEngines {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly bus: Bus
  readonly jobs: Jobs
  readonly vault: Vault
  readonly blobs: Blobs
  readonly recentKeys: RecentKeys
  readonly clock: Clock
  readonly log: EventLog
  readonly logIdentity: LogIdentity
  readonly logDamage: null
  readonly commands: Commands
  readonly documents: Documents
  readonly projectSecrets: ProjectSecrets
  readonly mcpHeaders: ProjectSecrets
  readonly logger: Logger
  readonly emit: Emit
  /** The faults that the engines have reported and survived. */
  readonly faults: readonly string[]
  close(): Promise<void>
}

/** The actor in tests. */
export const somebody = { kind: 'user', userId: '00000000-a000-4000-8000-000000000001' } as const

/** A cause, with a new command id by default. */
export const cause = (commandId: string = randomUUID()) => ({ actor: somebody, commandId })

export async function openTestEngines(): Promise<TestEngines> {
  const folder = mkdtempSync(join(tmpdir(), 'flightdeck-engines-'))
  const faults: string[] = []
  const onFault = (what: string) => void faults.push(what)
  const at = (name: string) => join(folder, name)
  const clock: Clock = { now: () => new Date() }
  const vault = openSqliteVault({ file: at('vault.sqlite'), masterKey: randomBytes(32) })
  const eventStore = openSqliteEventStore({ file: at('events.sqlite'), onFault })
  const readStore = openSqliteReadStore({ file: at('views.sqlite'), served })
  const jobs = openSqliteJobs({ file: at('jobs.sqlite'), clock, onFault })
  const bus = openInProcessBus({ onFault })
  const blobs = openFileBlobs({ folder: at('blobs') })
  const recentKeys = openSqliteRecentKeys({ file: at('keys.sqlite'), clock })
  await madeAtOnce(readStore)
  const log = eventLog({ eventStore, vault, bus, clock })
  return {
    eventStore,
    readStore,
    bus,
    jobs,
    vault,
    blobs,
    recentKeys,
    clock,
    log,
    logIdentity: testLog,
    logDamage: null,
    commands: commands(log),
    documents: documents(readStore, log),
    projectSecrets: projectSecrets({ vault }),
    mcpHeaders: mcpHeaders({ vault }),
    logger: logger('silent'),
    emit: noTelemetry,
    faults,
    async close() {
      for (const engine of [recentKeys, blobs, bus, jobs, readStore, eventStore, vault]) await engine.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The identity of the log in tests. */
export const testLog: LogIdentity = { logId: '00000000-0000-4000-8000-000000000000', epoch: 1 }

/** Creates a first generation of every view, without documents. */
export async function madeAtOnce(readStore: ReadStore): Promise<void> {
  const catalog = await changeCatalog(readStore, (found) => ({
    ...generations.madeAtOnce(found, generations.nextGenerations(found, views)),
    log: testLog,
  }))
  await readStore.prepare(
    views.map(({ collection, indexes }) => ({ name: catalog.live[collection]?.name ?? '', indexes })),
  )
}

/** Resolves once the condition holds; throws with what was awaited after `withinMs`. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = patienceMs,
): Promise<void> {
  for (let [pauseMs, end] = [5, Date.now() + withinMs]; ; pauseMs = Math.min(pauseMs * 2, 320)) {
    if (await holds()) return
    if (Date.now() > end) throw new Error(`It did not come to be: ${what}`)
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs)
    })
  }
}

/** An access control that lets everybody in. */
export const openAccess: AccessControl = {
  isOpen: true,
  allows: async () => true,
  check: async () => undefined,
  isAdmin: async () => false,
  refusal: () => '',
}
