/** How far the projection is behind the log, and whether it makes progress. */
import { withinOr } from '#platform/async/timeLimit.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { isReadable, projectedEvents } from '#platform/reads/documents.ts'
import { mainProjection } from '#platform/reads/projectionWait.ts'
import type { Position } from '#domain/kernel/event.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { intact, isDamaged, type EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import type { Lag } from './telemetry.ts'

/** An event that is younger than this may simply not be in the read models yet. */
const maxWaitMs = 15_000
/** A projector that is catching up advances its checkpoint within this time. `checkTimeoutMs` limits the whole check. */
const advanceTimeoutMs = 1_500
const checkTimeoutMs = 2_700
const pollIntervalMs = 100

interface Advancing {
  readonly eventStore: Pick<EventStore, 'readAll'>
  readonly readStore: Pick<ReadStore, 'catalog' | 'checkpoint'>
  readonly clock: Clock
}

/**
 * Throws while views cannot be read. Also throws when an old event is not in the read models yet and the projector makes no progress. Does not throw
 * for an unavailable engine, which has its own readiness check, nor when this check takes too long.
 */
export async function requireProgress(engines: Advancing): Promise<void> {
  try {
    await withinOr(checkTimeoutMs, look(engines), undefined)
  } catch (fault) {
    if (!(fault instanceof EngineUnavailable) || fault instanceof NotFolded) throw fault
  }
}

async function look({ eventStore, readStore, clock }: Advancing): Promise<void> {
  if (!isReadable(await readStore.catalog())) throw new NotFolded('some views')
  const reached = await readStore.checkpoint(mainProjection)
  const [oldest] = await eventStore.readAll(reached, 1, projectedEvents)
  if (oldest === undefined || isDamaged(oldest) || clock.now().getTime() - Date.parse(oldest.at) < maxWaitMs)
    return
  for (const end = performance.now() + advanceTimeoutMs; performance.now() < end;) {
    if ((await readStore.checkpoint(mainProjection)) !== reached) return
    await pause(pollIntervalMs)
  }
  throw new Error('The projection does not advance.')
}

const maxCounted = 1_000

/** How far a projection that has reached the position `reached` is behind the log at the time `at`. Throws `EngineUnavailable`. */
export async function lagBehind(
  eventStore: Pick<EventStore, 'readAll'>,
  reached: Position | null,
  at: Date,
): Promise<Lag> {
  const waiting = await eventStore.readAll(reached, maxCounted, projectedEvents)
  const [oldest] = intact(waiting)
  const ms = oldest === undefined ? 0 : at.getTime() - Date.parse(oldest.at)
  return { events: waiting.length, seconds: Math.max(ms, 0) / 1_000 }
}
