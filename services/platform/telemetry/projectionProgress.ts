/** Whether the read models can be read, and move on while the log does. */
import { withinOr } from '#platform/async/timeLimit.ts'
import { setTimeout as pause } from 'node:timers/promises'
import { isReadable, projectedEvents } from '#platform/reads/documents.ts'
import { mainProjection } from '#platform/reads/projected.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { EngineUnavailable, NotFolded } from '#platform/ports/faults.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'

/** An event that waits for less is on its way. */
const waitsAtMostMs = 15_000
/** A projector that catches up gets on in this time; who asks whether all is ready waits a little longer. */
const movesWithinMs = 1_500
const answersWithinMs = 2_700
const lookEveryMs = 100

interface Advancing {
  readonly eventStore: Pick<EventStore, 'readAll'>
  readonly readStore: Pick<ReadStore, 'catalog' | 'checkpoint'>
  readonly clock: Clock
}

/**
 * Throws while views cannot be read, and where the oldest event that is not folded is old and the projector does not get on. An engine
 * that is away is another matter, which its own part tells.
 */
export async function requireAdvancing(engines: Advancing): Promise<void> {
  try {
    await withinOr(answersWithinMs, look(engines), undefined)
  } catch (fault) {
    if (!(fault instanceof EngineUnavailable) || fault instanceof NotFolded) throw fault
  }
}

async function look({ eventStore, readStore, clock }: Advancing): Promise<void> {
  if (!isReadable(await readStore.catalog())) throw new NotFolded('some views')
  const reached = await readStore.checkpoint(mainProjection)
  const [oldest] = await eventStore.readAll(reached, 1, projectedEvents)
  if (oldest === undefined || clock.now().getTime() - Date.parse(oldest.at) < waitsAtMostMs) return
  for (const end = performance.now() + movesWithinMs; performance.now() < end;) {
    if ((await readStore.checkpoint(mainProjection)) !== reached) return
    await pause(lookEveryMs)
  }
  throw new Error('The projection does not advance.')
}
