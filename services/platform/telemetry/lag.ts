/** How far a projection is behind the log: asked when somebody looks, so that nothing is read meanwhile. */
import type { Position } from '#domain/kernel/event.ts'
import { projectedEvents } from '#platform/reads/documents.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import type { Lag } from './telemetry.ts'

const countedAtMost = 1_000

/** What the log holds after `reached`; `at` is now. Throws `EngineUnavailable`. */
export async function lagBehind(
  eventStore: Pick<EventStore, 'readAll'>,
  reached: Position | null,
  at: Date,
): Promise<Lag> {
  const waiting = await eventStore.readAll(reached, countedAtMost, projectedEvents)
  const [oldest] = waiting
  const ms = oldest === undefined ? 0 : at.getTime() - Date.parse(oldest.at)
  return { events: waiting.length, seconds: Math.max(ms, 0) / 1_000 }
}
