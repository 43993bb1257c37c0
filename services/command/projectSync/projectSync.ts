/**
 * Keeps projects as their repositories are at the code host: what a delivery hints at within seconds, all others now and then. Only what is
 * new is recorded. A repository is read by its number, with the access of the project's owner: an installation of the App may still have
 * what they may no longer see, or no longer have what they still see.
 */
import type { DeliveredEvent } from '#domain/delivery.ts'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { serialize } from '#platform/async/queue.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { EventFilter, EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projected.ts'
import { hints, type Hint, type Hints } from '../hints.ts'
import { round, tags, type Round, type RoundDeps, type Tags } from './round.ts'
import { rounds, type Rounds } from '#platform/async/rounds.ts'

export interface ProjectSyncEngines extends RoundDeps {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly log: Pick<EventLog, 'open'>
  readonly documents: Pick<Documents, 'find'>
  readonly projected: Pick<Projected, 'waitFor'>
}

/** In milliseconds. */
export interface ProjectSyncTimes {
  /** From the start to the first reading of all, and between readings of all. */
  readonly firstMs: number
  readonly allMs: number
  /** From a hint to the reading, so that a burst of hints is one. */
  readonly restMs: number
  /** At most so often hints lead to a reading of all, and pushes to a reading of their repository. */
  readonly againMs: number
}

export const projectSyncTimes: ProjectSyncTimes = {
  firstMs: 30_000,
  allMs: 1_800_000,
  restMs: 2_000,
  againMs: 60_000,
}

const wanted: EventFilter = { streams: ['delivery-'], types: ['DeliveryReceived'] }
/** A push says little of a project, and comes often. */
const about: Partial<Record<DeliveredEvent, Hint>> = { repository: 'soon', push: 'now and then' }
const aboutAll: ReadonlySet<DeliveredEvent> = new Set(['installation', 'installation_repositories'])
const batch = 500
const page = 100
const foldedWithinMs = 2_000
/** Projects of one repository: one a person. */
const mostOfRepository = 1_000
const mostHinted = 1_000

interface Syncing {
  readonly engines: ProjectSyncEngines
  readonly times: ProjectSyncTimes
  readonly hinted: Hints
  readonly tags: Tags
  readonly ofHinted: Rounds
  readonly ofAll: Rounds
  /** When hints may next lead to a reading of all, by the clock of `performance.now`. */
  allAgainAt: number
  /** All hints up to here were heard. */
  heard: Position | null
  isStopped: boolean
}

/** Syncs until it is stopped. */
export async function startProjectSync(
  engines: ProjectSyncEngines,
  times: ProjectSyncTimes = projectSyncTimes,
): Promise<Held> {
  // What was hinted at before is found by the first reading of all.
  const from = await engines.eventStore.head()
  const inOrder = serialize()
  const inRounds = (work: (syncing: Syncing) => Promise<void>) =>
    rounds(() => inOrder(() => work(syncing)).catch((fault: unknown) => logFault(syncing, fault)))
  const syncing: Syncing = {
    engines,
    times,
    hinted: hints(times, mostHinted),
    tags: tags(),
    ofHinted: inRounds(readHinted),
    ofAll: inRounds(readAll),
    allAgainAt: 0,
    heard: from,
    isStopped: false,
  }
  const subscription = engines.eventStore.subscribe(
    from,
    batch,
    (events, upTo) => hear(syncing, events, upTo),
    wanted,
  )
  syncing.ofAll.within(times.firstMs)
  return {
    async stop() {
      syncing.isStopped = true
      await subscription.stop()
      await Promise.all([syncing.ofHinted.stop(), syncing.ofAll.stop()])
    },
  }
}

function logFault({ engines: { logger }, isStopped }: Syncing, fault: unknown): void {
  // Read models that are being built, and engines that are away, are asked again the next time.
  if (isStopped || fault instanceof EngineUnavailable) return
  logger.error({ err: fault }, 'failed to sync projects with the code host')
}

async function hear(syncing: Syncing, events: readonly StoredEvent[], upTo: Position): Promise<void> {
  for (const stored of events) await note(syncing, stored)
  syncing.heard = upTo
  awaitHinted(syncing)
}

function awaitHinted({ hinted, ofHinted }: Syncing): void {
  const dueAt = hinted.dueAt()
  if (dueAt !== undefined) ofHinted.within(dueAt - performance.now())
}

async function note(syncing: Syncing, stored: StoredEvent): Promise<void> {
  const { engines, hinted, ofAll, times } = syncing
  try {
    const event = await engines.log.open(stored)
    if (event.type !== 'DeliveryReceived') return
    const id = event.content?.repositoryId ?? null
    const hint = about[event.data.event]
    const now = performance.now()
    if (hint !== undefined && id !== null) hinted.add(id, hint, now)
    // It names the account, not our projects: all are looked at, once the burst is over.
    if (aboutAll.has(event.data.event)) ofAll.within(Math.max(times.restMs, syncing.allAgainAt - now))
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    engines.logger.warn({ stream: stored.stream, reason: fault.reason }, 'skipped an unreadable delivery')
  }
}

const newRound = (syncing: Syncing): Round => round(syncing.engines, syncing.tags, () => syncing.isStopped)

async function readHinted(syncing: Syncing): Promise<void> {
  const { engines, hinted } = syncing
  const left = new Set(hinted.take(performance.now()))
  const reading = newRound(syncing)
  try {
    if (syncing.heard !== null) await engines.projected.waitFor(syncing.heard, foldedWithinMs)
    for (const githubRepoId of left) {
      if (reading.isOver()) return
      const found = await engines.documents.find(projectsView, {
        where: { githubRepoId },
        sort: { field: 'order', direction: 'ascending' },
        limit: mostOfRepository,
      })
      let isRead = true
      for (const one of found) if ((await reading.sync(one)) === 'later') isRead = false
      if (isRead) left.delete(githubRepoId)
    }
  } finally {
    for (const id of left) hinted.keep(id, performance.now())
    awaitHinted(syncing)
  }
}

async function readAll(syncing: Syncing): Promise<void> {
  syncing.allAgainAt = performance.now() + syncing.times.againMs
  const reading = newRound(syncing)
  try {
    for (let after: { value: string; id: string } | undefined; ;) {
      const found: readonly ProjectDocument[] = await syncing.engines.documents.find(projectsView, {
        where: {},
        sort: { field: 'order', direction: 'ascending' },
        limit: page,
        ...(after ? { after } : {}),
      })
      for (const one of found) await reading.sync(one)
      const last = found.at(-1)
      if (reading.isOver() || !last || found.length < page) return
      after = { value: last.order, id: last.id }
    }
  } finally {
    syncing.ofAll.within(syncing.times.allMs)
  }
}
