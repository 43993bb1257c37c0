/** What a stopped product has on the disk, read through its own parts: whether its hash chains are whole, and its read models match the log. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { openFileBlobs } from '#platform/blobs/files.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { collections, documents, served } from '#platform/reads/documents.ts'
import { chainFaultOf } from '#platform/eventlog/chain.ts'
import { eventLog } from '#platform/eventlog/eventLog.ts'
import { commands } from '#platform/commands/execute.ts'
import { openLog } from '#platform/eventlog/logIdentity.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import { sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { startProjector } from '../../services/query/projection/projector.ts'
import { intact } from '#platform/ports/eventStore.ts'

/** Opens the engines in the folder of a stopped product. */
export async function openStoppedProduct(dataDir: string) {
  const at = (name: string) => join(dataDir, name)
  const masterKey = await loadMasterKey({ configured: undefined, file: at('master.key') })
  const vault = openSqliteVault({ file: at('vault.sqlite'), masterKey })
  const onFault = () => undefined
  const eventStore = openSqliteEventStore({ file: at('events.sqlite'), onFault })
  const readStore = openSqliteReadStore({ file: at('views.sqlite'), served })
  const blobs = openFileBlobs({ folder: at('blobs') })
  const bus = openInProcessBus({ onFault })
  const clock: Clock = { now: () => new Date() }
  const log = eventLog({ eventStore, vault, bus, clock })
  return {
    vault,
    eventStore,
    readStore,
    bus,
    clock,
    log,
    logIdentity: await openLog({ commands: commands(log), eventStore }),
    documents: documents(readStore, log),
    blobs: sealedBlobs({ blobs, vault }),
    async close() {
      for (const engine of [blobs, bus, readStore, eventStore, vault]) await engine.close()
    },
  }
}
export type StoppedProduct = Awaited<ReturnType<typeof openStoppedProduct>>

const mostEvents = 1_000_000
const projectedWithinMs = 60_000

/** The breaks in the hash chains of all streams, checked from what is stored alone. */
export async function brokenChains({ eventStore }: StoppedProduct): Promise<readonly string[]> {
  const events = intact(await eventStore.readAll(null, mostEvents))
  return [...byStream(events)].flatMap(([stream, ofStream]) => faultsOf(stream, ofStream))
}

/** The breaks in the hash chain of a stream, checked from what is stored alone. */
export function faultsOf(stream: string, events: readonly StoredEvent[]): readonly string[] {
  return events.flatMap((event, revision) => {
    const fault = chainFaultOf(event, events[revision - 1] ?? null)
    return fault === undefined ? [] : [`${stream} @ ${event.revision}: ${fault}`]
  })
}

export function byStream(events: readonly StoredEvent[]): ReadonlyMap<string, readonly StoredEvent[]> {
  const streams = new Map<string, StoredEvent[]>()
  for (const event of events) {
    const stream = streams.get(event.stream) ?? []
    stream.push(event)
    streams.set(event.stream, stream)
  }
  return streams
}

/** The documents of all collections as text: as they are stored, and as the log alone gives them. */
export async function readModels(stored: StoppedProduct): Promise<{ kept: string; rebuilt: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-rebuilt-'))
  const fresh = openSqliteReadStore({ file: join(folder, 'views.sqlite'), served })
  try {
    return { kept: await caughtUp(stored, stored.readStore), rebuilt: await caughtUp(stored, fresh) }
  } finally {
    await fresh.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** All documents of the store, one per line, once the whole log was projected into it. */
async function caughtUp(
  { eventStore, bus, clock, log, logIdentity }: StoppedProduct,
  readStore: ReadStore,
): Promise<string> {
  const following = projected({ bus, readStore, eventStore })
  const watching = { clock, emit: noTelemetry, logger: logger('silent') }
  const projector = await startProjector({ eventStore, readStore, bus, log, logIdentity, ...watching })
  try {
    const head = await eventStore.head()
    if (head !== null && !(await following.waitFor(head, projectedWithinMs)))
      throw new Error('The log is not projected in time.')
  } finally {
    await projector.stop()
    following.close()
  }
  const sort = { field: 'id', direction: 'ascending' } as const
  const found = await Promise.all(
    collections.map(async ({ name }) =>
      (await readStore.find(name, { where: {}, sort, limit: mostEvents })).map(
        (document) => `${name} ${JSON.stringify(document)}`,
      ),
    ),
  )
  return found.flat().join('\n')
}
