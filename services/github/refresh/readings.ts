/**
 * Reads data of projects at the code host, one project at a time and in only one process: a repository after a hint about it, and all projects from
 * time to time.
 */
import type { DeliveryReceived } from '#domain/webhookDelivery.ts'
import type { Position, RecordedOf } from '#domain/kernel/event.ts'
import { projectsView, type ProjectDocument } from '#domain/views/projects.ts'
import { serialize } from '#platform/async/queue.ts'
import { rounds, type Rounds } from '#platform/async/rounds.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import type { Logger } from '#platform/log.ts'
import type { LogRecord } from '#platform/ports/eventStore.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import type { Find } from '#platform/ports/readStore.ts'
import { oldest } from '#platform/reads/documentPages.ts'
import type { Documents } from '#platform/reads/documents.ts'
import type { Projected } from '#platform/reads/projectionWait.ts'
import { deliveryFilter, openDelivery } from './deliveries.ts'
import { hints, type Hint, type Hints } from './hints.ts'
import { retries, type Retries } from './retries.ts'

export interface ReadingEngines extends ReactorEngines {
  readonly log: Pick<EventLog, 'open'>
  readonly projected: Pick<Projected, 'waitFor'>
  readonly logger: Pick<Logger, 'error' | 'warn'>
}

/** The intervals of readings, in milliseconds. */
export interface ReadingTimes {
  /** The time from the start to the first reading of all projects. */
  readonly firstMs: number
  /** The time from the end of a reading of all projects to the next one. */
  readonly pollIntervalMs: number
  /** The time between a hint and the reading, so that a burst of hints causes one reading. */
  readonly burstPauseMs: number
  /**
   * The least time between two readings of all projects that are caused by hints, and between two readings of a repository that has frequent hints.
   * It is also the first pause after a failed reading.
   */
  readonly minIntervalMs: number
}

/** A project with its place in the order of all projects. */
export interface OrderedDocument {
  readonly id: string
  readonly order: string
}

/** The project after which a page begins. */
export type PageStart = Find['after']

/** One round of readings. */
export interface Round<Project> {
  /** Whether to end the round, because it was stopped or the code host seems to be unavailable. */
  isOver(): boolean
  /** Reads a project. `soon`: there is more to read; `later`: it could not be read for now. Throws EngineUnavailable. */
  read(project: Project): Promise<'done' | 'soon' | 'later'>
}

/** How one kind of data is read, and which hints cause a reading. */
export interface Readings<Project extends OrderedDocument> {
  readonly times: ReadingTimes
  /** The message for the log when a reading failed. */
  readonly failed: string
  /** Returns the number of the repository that a delivery hints at, `all` if it concerns all projects, or `undefined` if it concerns none. */
  readonly hintOf: (
    delivery: RecordedOf<DeliveryReceived>,
  ) => { readonly repositoryId: string; readonly hint: Hint } | 'all' | undefined
  readonly ofRepository: (githubRepoId: string) => Promise<readonly Project[]>
  /** Returns the present document of a project; `undefined` when there is none. */
  readonly one: (id: string) => Promise<Project | undefined>
  /** Returns all projects that come after `after`, in pages of at most `limit`. */
  readonly pages: (limit: number, after: PageStart) => AsyncIterable<readonly Project[]>
  readonly begin: (isStopped: () => boolean) => Round<Project>
}

const pageSize = 100
const foldTimeoutMs = 2_000
const maxHinted = 1_000
const soonMs = 3_000
/** After this many failed projects in a row, an engine counts as unavailable. The fault of a single project may have its cause in that project. */
const maxFaults = 2

interface Running<Project extends OrderedDocument> {
  readonly engines: ReadingEngines
  readonly of: Readings<Project>
  readonly hinted: Hints
  /** Projects that have to be read again. */
  readonly again: Retries
  /** Reads hinted projects, and projects that have to be read again. */
  readonly ofHinted: Rounds
  readonly ofAll: Rounds
  /** The earliest time at which hints may cause a reading of all projects, in ms of `performance.now`. */
  allAgainAt: number
  /** Where the last reading of all projects stopped because the code host or an engine was unavailable. The next such reading continues there. */
  stoppedAt: PageStart
  /** Counts the hints that concern all projects. A reading of all projects that begins after such a hint begins with the first project. */
  hintedAll: number
  /** The position up to which the log was searched for hints. Before hints are followed, the read models get `foldTimeoutMs` to reach it. */
  heard: Position | null
  isStopped: boolean
}

/** The projects of a repository, the oldest first. Each person can have one project for the same repository. */
export const projectsOf = (
  documents: Pick<Documents, 'find'>,
  githubRepoId: string,
  limit: number,
): Promise<readonly ProjectDocument[]> => oldest(documents, projectsView, { githubRepoId }, limit)

/** Reads projects until it is stopped. */
export async function startReadings<Project extends OrderedDocument>(
  engines: ReadingEngines,
  of: Readings<Project>,
): Promise<RunningWork> {
  const inOrder = serialize()
  const inRounds = (work: (running: Running<Project>) => Promise<void>) =>
    rounds(() => inOrder(() => work(running)).catch((fault: unknown) => logFault(running, fault)))
  const running: Running<Project> = {
    engines,
    of,
    hinted: hints(of.times, maxHinted),
    again: retries(of.times.pollIntervalMs, maxHinted),
    ofHinted: inRounds(readHinted),
    ofAll: inRounds(readAll),
    allAgainAt: 0,
    stoppedAt: undefined,
    hintedAll: 0,
    heard: null,
    isStopped: false,
  }
  // Earlier hints are covered by the first reading of all projects.
  const reactor = await startReactor(engines, {
    from: 'head',
    filter: deliveryFilter,
    handle: async (events, upTo) => {
      running.heard = upTo
      for (const stored of events) await note(running, stored)
      awaitHinted(running)
    },
  })
  running.ofAll.within(of.times.firstMs)
  return {
    async stop() {
      running.isStopped = true
      await reactor.stop()
      await Promise.all([running.ofHinted.stop(), running.ofAll.stop()])
    },
  }
}

function logFault<Project extends OrderedDocument>(
  { engines, of, isStopped }: Running<Project>,
  fault: unknown,
): void {
  // While read models are being built or an engine is unavailable, nothing is logged, since the next reading tries again.
  if (isStopped || fault instanceof EngineUnavailable) return
  engines.logger.error({ err: fault }, of.failed)
}

/** When the next reading is due, because of a hint or because a project has to be read again; `Infinity` when none is due. */
const nextDueAt = <Project extends OrderedDocument>({ hinted, again }: Running<Project>): number =>
  Math.min(...[hinted, again].map((one) => one.dueAt() ?? Number.POSITIVE_INFINITY))

function awaitHinted<Project extends OrderedDocument>(running: Running<Project>): void {
  const dueAt = nextDueAt(running)
  if (dueAt < Number.POSITIVE_INFINITY) running.ofHinted.within(dueAt - performance.now())
}

async function note<Project extends OrderedDocument>(
  running: Running<Project>,
  stored: LogRecord,
): Promise<void> {
  const { engines, of, hinted, ofAll } = running
  const delivery = await openDelivery(engines, stored)
  const hint = delivery && of.hintOf(delivery)
  if (hint === undefined) return
  const now = performance.now()
  if (hint !== 'all') return hinted.add(hint.repositoryId, hint.hint, now)
  running.hintedAll += 1
  running.stoppedAt = undefined
  // Reads all projects when the burst of hints is over.
  ofAll.within(Math.max(of.times.burstPauseMs, running.allAgainAt - now))
}

const beginRound = <Project extends OrderedDocument>(running: Running<Project>): Round<Project> =>
  running.of.begin(() => running.isStopped)

/** Reads hinted projects, and those to be read again. A fault at one project does not stop the others; `maxFaults` in a row end the round. */
async function readHinted<Project extends OrderedDocument>(running: Running<Project>): Promise<void> {
  const { engines, of, hinted, again, heard } = running
  const round = beginRound(running)
  const { minIntervalMs } = of.times
  const taken = hinted.take(performance.now())
  const repositories = new Set(taken)
  const waiting = new Set(again.take(performance.now()))
  let faults = 0
  const isAway = () => faults >= maxFaults
  const isOver = () => isAway() || round.isOver()
  const failed = (fault: unknown) => {
    faults += 1
    logFault(running, fault)
  }
  const tryOne = async (id: string, find: () => Promise<Project | undefined>) => {
    waiting.delete(id)
    try {
      const one = await find()
      if (one === undefined) again.settle(id)
      else await readOne(running, round, one, minIntervalMs)
      faults = 0
    } catch (fault) {
      failed(fault)
      again.put(id, minIntervalMs, performance.now())
    }
  }
  try {
    if (heard !== null) await engines.projected.waitFor(heard, foldTimeoutMs)
    for (const githubRepoId of taken) {
      if (isOver()) return
      repositories.delete(githubRepoId)
      const found = await of.ofRepository(githubRepoId).catch(failed)
      // A repository that could not be read goes to the end, so that the next time begins with the repositories that were not tried.
      if (found === undefined) repositories.add(githubRepoId)
      for (const one of found ?? [])
        if (isAway()) waiting.add(one.id)
        else await tryOne(one.id, async () => one)
    }
    for (const id of waiting) {
      if (isOver()) return
      await tryOne(id, () => of.one(id))
    }
  } finally {
    for (const id of repositories) hinted.keep(id, performance.now())
    for (const id of waiting) again.keep(id, minIntervalMs, performance.now())
    awaitHinted(running)
  }
}

/**
 * Reads one project. `laterMs` is the pause before a second try after a temporary failure; `null`: no pause is set, since the next reading of all
 * projects is early enough.
 */
async function readOne<Project extends OrderedDocument>(
  { again }: Running<Project>,
  round: Round<Project>,
  one: Project,
  laterMs: number | null,
): Promise<void> {
  const outcome = await round.read(one)
  const pauseMs = outcome === 'soon' ? soonMs : outcome === 'later' ? laterMs : null
  // More to read is no failure, so the pause before it does not grow.
  if (outcome !== 'later') again.settle(one.id)
  if (pauseMs !== null) again.put(one.id, pauseMs, performance.now())
}

async function readAll<Project extends OrderedDocument>(running: Running<Project>): Promise<void> {
  const { of, ofAll } = running
  const { pollIntervalMs, minIntervalMs } = of.times
  running.allAgainAt = performance.now() + minIntervalMs
  const round = beginRound(running)
  const { stoppedAt, hintedAll } = running
  running.stoppedAt = undefined
  const stop = (at: PageStart) => {
    if (running.hintedAll === hintedAll) running.stoppedAt = at
  }
  let after = stoppedAt
  let underWay: PageStart
  try {
    for await (const page of of.pages(pageSize, stoppedAt))
      for (const one of page) {
        if (round.isOver()) return stop(after)
        // Hinted projects come first, since nobody waits for a reading of all projects. A fault at hinted projects does not end the reading of all
        // projects.
        if (nextDueAt(running) <= performance.now())
          await readHinted(running).catch((fault: unknown) => logFault(running, fault))
        underWay = { value: one.order, id: one.id }
        await readOne(running, round, one, null)
        after = underWay
        underWay = undefined
      }
  } catch (fault) {
    // A project at which an engine fails every time is skipped, so that it does not delay the others for long.
    stop(after === stoppedAt && underWay ? underWay : after)
    throw fault
  } finally {
    ofAll.within(pollIntervalMs)
    awaitHinted(running)
  }
}
