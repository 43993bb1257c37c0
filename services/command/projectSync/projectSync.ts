/**
 * Keeps projects as their repositories are at the code host: what a delivery hints at within seconds, all others now and then. Only what is
 * new is recorded. A repository is read by its number, with the App's installation or else the owner's access.
 */
import { randomUUID } from 'node:crypto'
import type { DeliveredEvent } from '#domain/delivery.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { projectStream } from '#domain/kernel/streams.ts'
import { project } from '#domain/project/project.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { serialize } from '#platform/async/queue.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { CodeHost } from '#platform/ports/codeHost.ts'
import type { EventFilter, EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projected.ts'
import type { TokenFor } from '../follow/access.ts'
import { isNews, readProject, type Reading } from './reading.ts'

export interface ProjectSyncEngines {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly log: Pick<EventLog, 'open'>
  readonly documents: Pick<Documents, 'find'>
  readonly projected: Pick<Projected, 'waitFor'>
  readonly commands: Pick<Commands, 'execute'>
  readonly codeHost: Pick<CodeHost, 'repositoryById' | 'repository'>
  readonly tokenFor: TokenFor
  readonly logger: Logger
}

/** In milliseconds. */
export interface ProjectSyncTimes {
  /** From the start to the first reading of all, and between readings of all. */
  readonly firstMs: number
  readonly allMs: number
  /** From a hint to the reading, so that a burst of hints is one. */
  readonly restMs: number
}

export const projectSyncTimes: ProjectSyncTimes = { firstMs: 30_000, allMs: 1_800_000, restMs: 2_000 }

const actor = { kind: 'system', service: 'project-sync' } as const
const wanted: EventFilter = { streams: ['delivery-'], types: ['DeliveryReceived'] }
const about: ReadonlySet<DeliveredEvent> = new Set(['repository', 'push'])
const aboutAll: ReadonlySet<DeliveredEvent> = new Set(['installation', 'installation_repositories'])
const batch = 500
const page = 100
const foldedWithinMs = 2_000
/** Projects of one repository: one a person. */
const mostOfRepository = 1_000
const mostHinted = 1_000
const mostTags = 5_000

interface Syncing {
  readonly engines: ProjectSyncEngines
  readonly times: ProjectSyncTimes
  /** Repositories that hints named; more than fit are left to the next reading of all. */
  readonly hinted: Set<string>
  /** By project: what the last reading was tagged with. */
  readonly tags: Map<string, string>
  readonly inOrder: ReturnType<typeof serialize>
  timer: NodeJS.Timeout | undefined
  polling: NodeJS.Timeout | undefined
  isStopped: boolean
}

/** Syncs until it is stopped. */
export async function startProjectSync(
  engines: ProjectSyncEngines,
  times: ProjectSyncTimes = projectSyncTimes,
): Promise<Held> {
  const syncing: Syncing = {
    engines,
    times,
    hinted: new Set(),
    tags: new Map(),
    inOrder: serialize(),
    timer: undefined,
    polling: undefined,
    isStopped: false,
  }
  // What was hinted at before is found by the first reading of all.
  const from = await engines.eventStore.head()
  const subscription = engines.eventStore.subscribe(
    from,
    batch,
    (events, upTo) => hear(syncing, events, upTo),
    wanted,
  )
  pollIn(syncing, times.firstMs)
  return {
    async stop() {
      syncing.isStopped = true
      clearTimeout(syncing.timer)
      clearTimeout(syncing.polling)
      await subscription.stop()
      await syncing.inOrder(() => undefined)
    },
  }
}

function pollIn(syncing: Syncing, ms: number): void {
  clearTimeout(syncing.polling)
  syncing.polling = setTimeout(() => {
    void syncing
      .inOrder(() => readAll(syncing))
      .catch((fault: unknown) => logFault(syncing, fault))
      .finally(() => {
        if (!syncing.isStopped) pollIn(syncing, syncing.times.allMs)
      })
  }, ms)
}

function logFault({ engines: { logger }, isStopped }: Syncing, fault: unknown): void {
  // Read models that are being built, and engines that are away, are asked again the next time.
  if (isStopped || fault instanceof NotFolded || fault instanceof EngineUnavailable) return
  logger.error({ err: fault }, 'failed to sync projects with the code host')
}

async function hear(syncing: Syncing, events: readonly StoredEvent[], upTo: Position): Promise<void> {
  for (const stored of events) await note(syncing, stored)
  if (syncing.hinted.size === 0 || syncing.timer !== undefined || syncing.isStopped) return
  syncing.timer = setTimeout(() => {
    syncing.timer = undefined
    void syncing.inOrder(() => readHinted(syncing, upTo)).catch((fault: unknown) => logFault(syncing, fault))
  }, syncing.times.restMs)
}

async function note(syncing: Syncing, stored: StoredEvent): Promise<void> {
  const { engines, hinted, times } = syncing
  try {
    const event = await engines.log.open(stored)
    if (event.type !== 'DeliveryReceived') return
    const id = event.content?.repositoryId ?? null
    if (about.has(event.data.event) && id !== null && hinted.size < mostHinted) hinted.add(id)
    // It names the account, not our projects: all are looked at, once the burst is over.
    if (aboutAll.has(event.data.event)) pollIn(syncing, times.restMs)
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    engines.logger.warn({ stream: stored.stream, reason: fault.reason }, 'skipped an unreadable delivery')
  }
}

async function readHinted(syncing: Syncing, upTo: Position): Promise<void> {
  const { engines, hinted } = syncing
  const ids = [...hinted]
  hinted.clear()
  await engines.projected.waitFor(upTo, foldedWithinMs)
  for (const githubRepoId of ids) {
    const found = await engines.documents.find(projectsView, {
      where: { githubRepoId },
      sort: { field: 'order', direction: 'ascending' },
      limit: mostOfRepository,
    })
    for (const one of found) if ((await sync(syncing, one)) === 'host is away') return
  }
}

async function readAll(syncing: Syncing): Promise<void> {
  for (let after: { value: string; id: string } | undefined; ;) {
    const found: readonly ProjectDocument[] = await syncing.engines.documents.find(projectsView, {
      where: {},
      sort: { field: 'order', direction: 'ascending' },
      limit: page,
      ...(after ? { after } : {}),
    })
    for (const one of found) if ((await sync(syncing, one)) === 'host is away') return
    const last = found.at(-1)
    if (!last || found.length < page) return
    after = { value: last.order, id: last.id }
  }
}

/** Reads one and records what is new. A host that is away, or asks us to wait, ends the round: nothing is learned of the project by it. */
async function sync(syncing: Syncing, document: ProjectDocument): Promise<'done' | 'host is away'> {
  if (syncing.isStopped) return 'host is away'
  const { engines, tags } = syncing
  const { owner: ownerId, githubRepoId, githubOwner } = document
  const access = await engines.tokenFor({
    ownerId,
    repositoryId: githubRepoId || null,
    repositoryOwner: githubOwner,
  })
  const etag = document.status === 'active' ? tags.get(document.id) : undefined
  const read = await readProject(document, access.token, {
    codeHost: engines.codeHost,
    ...(etag === undefined ? {} : { etag }),
  })
  if (read === 'unchanged') return 'done'
  if (isAway(read)) return 'host is away'
  if (isNews(document, read)) {
    for (const command of [...read.before, read.last]) {
      const by = { actor, commandId: randomUUID() }
      await engines.commands.execute(project, projectStream(document.id), command, by)
    }
  }
  keepTag(tags, document.id, read.etag)
  return 'done'
}

const isAway = ({ last }: Reading): boolean =>
  last.type === 'RecordSyncFailure' && ['unavailable', 'rate_limited'].includes(last.code)

function keepTag(tags: Map<string, string>, id: string, etag: string | null): void {
  tags.delete(id)
  const [oldest] = tags.keys()
  if (tags.size >= mostTags && oldest !== undefined) tags.delete(oldest)
  if (etag !== null) tags.set(id, etag)
}
