/**
 * Makes tasks of issues, where a project wants that: what a delivery hints at within seconds, all projects that want it now and then, with
 * conditional requests. In one process. What was taken is in the log, so that it is made once.
 */
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import { projectIssuesView } from '#domain/views/projectIssues.ts'
import { projectsView } from '#domain/views/projects.ts'
import { serialize } from '#platform/async/queue.ts'
import { rounds, type Rounds } from '#platform/async/rounds.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { EventFilter, EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { Held } from '#platform/ports/leases.ts'
import type { Projected } from '#platform/reads/projected.ts'
import { hints, type Hints } from '../hints.ts'
import { memories, round, type Memories, type RoundDeps } from './round.ts'

export interface IssueEngines extends RoundDeps {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly log: Pick<EventLog, 'open'>
  readonly projected: Pick<Projected, 'waitFor'>
}

/** In milliseconds. */
export interface IssueTimes {
  /** Between readings of all, and from the start to the first. */
  readonly allMs: number
  /** From a hint to the reading, so that a burst of hints is one. */
  readonly restMs: number
  /** Between readings of a repository because of hints. */
  readonly againMs: number
}

/** The times that go with how often pull requests are read while somebody looks. */
export const issueTimes = (everyMs: number): IssueTimes => ({
  allMs: everyMs * 2,
  restMs: 1_000,
  againMs: 10_000,
})

const wanted: EventFilter = { streams: ['delivery-'], types: ['DeliveryReceived'] }
const batch = 500
const page = 100
const foldedWithinMs = 2_000
const mostOfRepository = 50
const mostHinted = 1_000
const soonMs = 3_000

interface Making {
  readonly engines: IssueEngines
  readonly times: IssueTimes
  readonly hinted: Hints
  readonly known: Memories
  readonly ofHinted: Rounds
  readonly ofAll: Rounds
  /** All hints up to here were heard. */
  heard: Position | null
  isStopped: boolean
}

/** Reads and makes until it is stopped. */
export async function startIssues(engines: IssueEngines, times: IssueTimes): Promise<Held> {
  // What was hinted at before is found by the first reading of all.
  const from = await engines.eventStore.head()
  const inOrder = serialize()
  const inRounds = (work: (making: Making) => Promise<void>) =>
    rounds(() => inOrder(() => work(making)).catch((fault: unknown) => logFault(making, fault)))
  const making: Making = {
    engines,
    times,
    hinted: hints(times, mostHinted),
    known: memories(),
    ofHinted: inRounds(readHinted),
    ofAll: inRounds(readAll),
    heard: from,
    isStopped: false,
  }
  const subscription = engines.eventStore.subscribe(
    from,
    batch,
    (events, upTo) => hear(making, events, upTo),
    wanted,
  )
  making.ofAll.within(times.allMs)
  return {
    async stop() {
      making.isStopped = true
      await subscription.stop()
      await Promise.all([making.ofHinted.stop(), making.ofAll.stop()])
    },
  }
}

function logFault({ engines: { logger }, isStopped }: Making, fault: unknown): void {
  // Read models that are being built, and engines that are away, are asked again the next time.
  if (isStopped || fault instanceof EngineUnavailable || fault instanceof NotFolded) return
  logger.error({ err: fault }, 'failed to make tasks of issues')
}

async function hear(making: Making, events: readonly StoredEvent[], upTo: Position): Promise<void> {
  for (const stored of events) await note(making, stored)
  making.heard = upTo
  awaitHinted(making)
}

function awaitHinted({ hinted, ofHinted }: Making): void {
  const dueAt = hinted.dueAt()
  if (dueAt !== undefined) ofHinted.within(dueAt - performance.now())
}

async function note({ engines, hinted }: Making, stored: StoredEvent): Promise<void> {
  try {
    const event = await engines.log.open(stored)
    if (event.type !== 'DeliveryReceived' || event.content === null) return
    const { repositoryId, issue } = event.content
    const isOfIssue = event.data.event === 'issues' || event.data.event === 'issue_comment'
    // Many hints are no more readings, as with pushes.
    if (isOfIssue && issue !== null && repositoryId !== null)
      hinted.add(repositoryId, 'now and then', performance.now())
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    engines.logger.warn({ stream: stored.stream, reason: fault.reason }, 'skipped an unreadable delivery')
  }
}

async function readHinted(making: Making): Promise<void> {
  const { engines, hinted } = making
  const left = new Set(hinted.take(performance.now()))
  const reading = round(engines, making.known, () => making.isStopped)
  try {
    if (making.heard !== null) await engines.projected.waitFor(making.heard, foldedWithinMs)
    for (const githubRepoId of left) {
      if (reading.isOver()) return
      const found = await engines.documents.find(projectsView, {
        where: { githubRepoId },
        sort: { field: 'order', direction: 'ascending' },
        limit: mostOfRepository,
      })
      let isRead = true
      for (const { id } of found) if ((await reading.read(id)) !== 'done') isRead = false
      if (isRead) left.delete(githubRepoId)
    }
  } finally {
    for (const id of left) hinted.keep(id, performance.now())
    awaitHinted(making)
  }
}

async function readAll(making: Making): Promise<void> {
  const { engines, times } = making
  const reading = round(engines, making.known, () => making.isStopped)
  let isSoon = false
  try {
    for (let after: { value: string; id: string } | undefined; ;) {
      const found = await engines.documents.find(projectIssuesView, {
        where: { on: true },
        sort: { field: 'order', direction: 'ascending' },
        limit: page,
        ...(after ? { after } : {}),
      })
      for (const { id } of found) {
        if (reading.isOver()) return
        if ((await reading.read(id)) === 'soon') isSoon = true
      }
      const last = found.at(-1)
      if (!last || found.length < page) return
      after = { value: last.order, id: last.id }
    }
  } finally {
    making.ofAll.within(isSoon ? Math.min(soonMs, times.allMs) : times.allMs)
  }
}
