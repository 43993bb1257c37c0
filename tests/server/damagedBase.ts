/** An undamaged log with many tasks and with streams of every other kind, projected and sealed, whose copies can be damaged. */
import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditEvents } from '#domain/audit.ts'
import { deliveryEvents } from '#domain/webhookDelivery.ts'
import type { DomainEvent } from '#domain/events.ts'
import { identityEvents } from '#domain/identity.ts'
import { imageEvents } from '#domain/image.ts'
import {
  auditStream,
  deliveryStream,
  identityStream,
  imageStream,
  projectStream,
  requestStream,
  taskStream,
  terminalStream,
  usageStream,
  userStream,
} from '#domain/kernel/streams.ts'
import { projectEvents } from '#domain/project/events.ts'
import { requestEvents } from '#domain/idempotentRequest.ts'
import { TaskUpdated } from '#domain/task/events.ts'
import { task } from '#domain/task/task.ts'
import { TerminalOutputRecorded } from '#domain/task/terminalEvents.ts'
import { usageEvents } from '#domain/usage.ts'
import { userEvents } from '#domain/user/events.ts'
import { openFileBlobs } from '#platform/blobs/files.ts'
import { openInProcessBus } from '#platform/bus/inProcess.ts'
import { openInProcessRpc } from '#platform/bus/rpcInProcess.ts'
import { commands } from '#platform/commands/execute.ts'
import { mcpHeaders, projectSecrets } from '#platform/credentials/projectSecrets.ts'
import { digestsOf } from '#platform/eventlog/chain.ts'
import { emptyHead, eventLog } from '#platform/eventlog/eventLog.ts'
import { openKnownLog } from '#platform/eventlog/logIdentity.ts'
import { quarantiner } from '#platform/eventlog/quarantine.ts'
import { sealedBlobs } from '#platform/eventlog/sealedBlobs.ts'
import { openSqliteEventStore } from '#platform/eventstore/sqlite.ts'
import { openSqliteJobs } from '#platform/jobs/sqlite.ts'
import { logger } from '#platform/log.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { documents, served } from '#platform/reads/documents.ts'
import { projected } from '#platform/reads/projectionWait.ts'
import { openSqliteReadStore } from '#platform/readstore/sqlite.ts'
import { newestSeal } from '#platform/seals/recordedSeals.ts'
import { sealsFile } from '#platform/seals/sealsFile.ts'
import { signingKeys } from '#platform/seals/signingKeys.ts'
import { noTelemetry } from '#platform/telemetry/telemetry.ts'
import { loadMasterKey } from '#platform/vault/masterKey.ts'
import { openSqliteVault } from '#platform/vault/sqlite.ts'
import { verifyLog, type Verified } from '#platform/verify/verify.ts'
import { dispatcherMarks } from '../../services/command/dispatcher.ts'
import { startSealer } from '../../services/maintenance/sealer.ts'
import { startProjector } from '../../services/query/projection/projector.ts'
import { creating } from '../domain/creating.ts'
import { todaysForms } from '../domain/frozenEvents.ts'
import { executionId, imageId, projectId, taskId, userId } from '../domain/ids.ts'
import { cause, eventually } from './engines.ts'
import { patienceMs } from '../patience.ts'

export const tasks = 50
export const withinMs = patienceMs
/** The files of a copy of the folder. */
export const files = [
  'events.sqlite',
  'vault.sqlite',
  'views.sqlite',
  'jobs.sqlite',
  'seals.ndjson',
  'master.key',
]
export const silent = logger('silent')
const hourMs = 3_600_000
/** The number of tasks for which the dispatcher looks for work in each copy. */
const queuedAnew = 20
const names = [1, 2]
const day = (n: number) => `2026-01-0${n}`

/** Two streams of each kind other than tasks, with every kind of event that does not end the stream. */
const others: readonly (readonly [(n: number) => string, Parameters<typeof formsFor>[0]])[] = [
  [(n) => userStream(userId(n)), userEvents],
  [(n) => identityStream(userId(n)), identityEvents],
  [(n) => projectStream(projectId(n)), projectEvents],
  [(n) => requestStream(userId(n)), requestEvents],
  [(n) => imageStream(imageId(n)), imageEvents],
  [(n) => usageStream(userId(n), day(n)), usageEvents],
  [(n) => auditStream(day(n)), auditEvents],
  [(n) => deliveryStream(day(n)), deliveryEvents],
]
export const otherStreams = others.flatMap(([streamOf]) => names.map(streamOf))
const idOfForms = '00000000-0000-4000-8000-000000000001'
const ends = new Set(['AccountDeleted', 'ProjectDeleted', 'ImageDiscarded'])

function formsFor(
  kinds: readonly {
    readonly type: string
    readonly data: unknown
    readonly content: unknown
  }[],
): readonly DomainEvent[] {
  return kinds.flatMap((kind) => {
    const [form] = todaysForms(kind)
    if (form === undefined || ends.has(kind.type)) return []
    // Everybody who is named is the first person; the log parses the events again.
    const own = JSON.parse(JSON.stringify(form).replaceAll(idOfForms, userId(1)))
    return [{ type: kind.type, ...own } as DomainEvent]
  })
}

/** Opens the engines of one folder, as `compose.ts` does. */
export async function openFolder(folder: string) {
  const at = (name: string) => join(folder, name)
  const onFault = () => undefined
  const clock = { now: () => new Date() }
  const masterKey = await loadMasterKey({ configured: undefined, file: at('master.key') })
  const vault = openSqliteVault({ file: at('vault.sqlite'), masterKey })
  const eventStore = openSqliteEventStore({ file: at('events.sqlite'), onFault })
  const readStore = openSqliteReadStore({ file: at('views.sqlite'), served })
  const jobs = openSqliteJobs({ file: at('jobs.sqlite'), clock, onFault })
  await mkdir(at('blobs'), { recursive: true })
  const blobs = openFileBlobs({ folder: at('blobs') })
  const bus = openInProcessBus({ onFault })
  const rpc = openInProcessRpc({ onFault })
  const setAside = quarantiner(readStore, silent)
  const log = eventLog({ eventStore, vault, bus, clock, setAside })
  const own = commands(log)
  const outside = sealsFile(at('seals.ndjson'))
  const known = await openKnownLog({ commands: own, eventStore, readStore, sealsFile: outside, setAside })
  const following = projected({ bus, readStore, eventStore })
  return {
    folder,
    vault,
    eventStore,
    readStore,
    jobs,
    bus,
    rpc,
    log,
    clock,
    ...known,
    commands: own,
    documents: documents(readStore, log),
    projected: following,
    projectSecrets: projectSecrets({ vault }),
    mcpHeaders: mcpHeaders({ vault }),
    blobs: sealedBlobs({ blobs, vault }),
    imageAddresses: { addressOf: () => '' },
    words: { hear: () => () => undefined },
    ids: { uuid: () => randomUUID() },
    emit: noTelemetry,
    logger: silent,
    sealsFile: outside,
    async close() {
      following.close()
      for (const engine of [rpc, bus, jobs, readStore, eventStore, vault]) await engine.close()
    },
  }
}
export type Opened = Awaited<ReturnType<typeof openFolder>>

/** Makes the sealer seal everything, as when it starts. Returns what it reported to the operator; nothing when it has sealed. */
export async function sealed(engines: Opened): Promise<readonly string[]> {
  const sentences: string[] = []
  const revision = async () =>
    (await newestSeal(engines.eventStore, engines.logIdentity).catch(() => undefined))?.revision
  const before = await revision()
  const sealer = await startSealer(engines, {
    intervalMs: hourMs,
    file: join(engines.folder, 'seals.ndjson'),
    tell: (told) => void sentences.push(...told),
  })
  try {
    const isDone = async () => sentences.length > 0 || (await revision()) !== before
    await eventually('the log is sealed, or it is told why not', isDone, withinMs)
  } finally {
    await sealer.stop()
  }
  return sentences
}

/** Runs `use` while the projector runs, once everything in the log was projected. */
export async function projecting<T>(engines: Opened, use: () => Promise<T>): Promise<T> {
  const projector = await startProjector(engines)
  try {
    const head = await engines.eventStore.head()
    if (head !== null && !(await engines.projected.waitFor(head, withinMs)))
      throw new Error('The log is not projected.')
    return await use()
  } finally {
    await projector.stop()
  }
}

export const digest = async (events: readonly StoredEvent[]) => events.map((event) => digestsOf(event))

export function verified({ eventStore, vault, readStore, logIdentity, ...rest }: Opened): Promise<Verified> {
  return verifyLog({ eventStore, vault }, digest, () => undefined, {
    identity: logIdentity,
    readStore,
    outside: () => rest.sealsFile.all(),
    keysOf: async (epoch) => (await signingKeys(vault, { ...logIdentity, epoch }))?.vouched ?? [],
  })
}

/** Creates the log, in a folder that the caller removes. Throws unless the log is whole, so that every later fault comes from a damage. */
export async function makeBase(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flightdeck-damaged-'))
  const engines = await openFolder(folder)
  try {
    for (const [streamOf, kinds] of others)
      for (const n of names) await engines.log.append(streamOf(n), emptyHead, formsFor(kinds), cause())
    for (let n = 1; n <= tasks; n += 1) {
      await makeTask(engines, n)
      if (n !== tasks - queuedAnew) continue
      // Earlier requests are marked as queued, so that the copies need not queue them.
      const queued = (await engines.eventStore.head()) ?? '0'
      for (const mark of Object.values(dispatcherMarks(engines.logIdentity)))
        await engines.jobs.mark(mark, queued)
      await sealOrThrow(engines)
    }
    await projecting(engines, async () => undefined)
    await sealOrThrow(engines)
    await projecting(engines, async () => undefined)
    const { findings } = await verified(engines)
    if (findings.length > 0) throw new Error(findings.map(({ sentence }) => sentence).join('\n'))
    return folder
  } catch (fault) {
    await rm(folder, { recursive: true, force: true })
    throw fault
  } finally {
    await engines.close()
  }
}

async function sealOrThrow(engines: Opened): Promise<void> {
  const told = await sealed(engines)
  if (told.length > 0) throw new Error(told.join(' '))
}

async function makeTask({ commands: own, log }: Opened, n: number): Promise<void> {
  const made = await own.execute(task, taskStream(taskId(n)), creating(n), cause())
  const more = Array.from({ length: 4 }, (_, at) => TaskUpdated.of({}, { title: `t${at}`, description: 'd' }))
  await log.append(taskStream(taskId(n)), made.head, more, cause())
  const said = Array.from({ length: 3 }, (_, at) =>
    TerminalOutputRecorded.of(
      { executionId: executionId(n), attempt: 1, channel: 'stdout', kind: 'turn' },
      { text: `line ${at}\n` },
    ),
  )
  await log.append(terminalStream(taskId(n)), emptyHead, said, { ...cause(), follows: 1 })
}
