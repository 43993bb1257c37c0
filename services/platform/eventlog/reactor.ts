/**
 * Follows the log: passes events on to a handler, and stores a mark, which is the position up to which events were handled. The next start continues
 * after that position.
 */
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import type { LogIdentity } from '#domain/log.ts'
import { rounds } from '../async/rounds.ts'
import type { Logger } from '../log.ts'
import type { EventFilter, EventStore, HandleEvents, Subscription } from '../ports/eventStore.ts'
import type { Jobs } from '../ports/jobs.ts'

export interface ReactorEngines {
  readonly eventStore: Pick<EventStore, 'subscribe' | 'head'>
  readonly jobs: Pick<Jobs, 'mark' | 'marked'>
  readonly logIdentity: LogIdentity
  readonly logger: Pick<Logger, 'warn'>
}

export interface Reaction {
  /** Names of the marks. Without marks, each start begins at `from`. */
  readonly marks?: readonly string[]
  /** Where to begin when there is no mark. */
  readonly from: 'beginning' | 'head'
  readonly filter: EventFilter
  /** The most events that are passed to `handle` at once. */
  readonly batch?: number
  /** Handles events. After it has thrown, and after a crash, it gets the same events again, so handling an event twice must do no harm. */
  readonly handle: HandleEvents
  /** Whether everything that was passed on is done, in case `handle` only queues it. Until then, no mark is stored. */
  readonly isDone?: () => boolean
}

const usualBatch = 500
/** The mark is stored at most this long after a batch. This happens in the background, so that no handler waits for it. */
const noteTimeoutMs = 1_000
/** After this many batches without any event, the mark is stored too. An older mark would only mean more events to look through after a start. */
const emptyBatches = 1_000

/** The stored name of a mark. A log that was restored from a backup begins without marks, since it continues differently from there. */
export const markName = (mark: string, { logId, epoch }: LogIdentity): string => `${mark}-${logId}-${epoch}`

/** Passes events on until it is stopped. `stop` resolves when no handler is running and, if everything is done, the mark is stored. */
export async function startReactor(
  { eventStore, jobs, logIdentity, logger }: ReactorEngines,
  { marks = [], from, filter, batch = usualBatch, handle, isDone = () => true }: Reaction,
): Promise<Subscription> {
  const names = marks.map((mark) => markName(mark, logIdentity))
  const marked = earliest(await Promise.all(names.map((name) => jobs.marked(name))))
  const begin = marked ?? (from === 'head' ? await eventStore.head() : null)
  let heard = begin
  let empty = 0
  const noting = rounds(note)
  async function note(): Promise<void> {
    if (heard === null || names.length === 0) return
    if (!isDone()) return noting.within(noteTimeoutMs)
    const upTo = heard
    empty = 0
    try {
      for (const name of names) await jobs.mark(name, upTo)
    } catch (err) {
      logger.warn({ err, names }, 'failed to note how far the log was read')
      noting.within(noteTimeoutMs)
    }
  }
  // The mark is stored before the first event, so that the next process begins here too if this one ends early.
  if (marked === null) await note()
  const subscription = eventStore.subscribe(
    begin,
    batch,
    async (events, upTo) => {
      await handle(events, upTo)
      heard = upTo
      empty += 1
      if (events.length > 0 || empty >= emptyBatches) noting.within(noteTimeoutMs)
    },
    filter,
  )
  return {
    async stop() {
      await subscription.stop()
      await noting.stop()
      await note()
    },
  }
}

/** The earliest of the positions; `null` when one of them is `null`, or when there are none. */
function earliest(positions: readonly (Position | null)[]): Position | null {
  const known = positions.filter((position) => position !== null)
  const [first = null] = known.toSorted(comparePositions)
  return known.length < positions.length ? null : first
}
