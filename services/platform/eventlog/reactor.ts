/** Follows the log: hands on the events that a part reacts to, and notes how far it got, so that the next start goes on there. */
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
  /** Names of what is noted; without any, each start begins at the end of the log. */
  readonly marks?: readonly string[]
  /** Where a part begins that has no mark yet. */
  readonly from: 'beginning' | 'head'
  readonly filter: EventFilter
  /** How many events are handed on at once. */
  readonly batch?: number
  /** Gets the same events again after a pause where it throws, or after a crash: doing it twice must do no harm. */
  readonly handle: HandleEvents
  /** Whether everything that was handed on is done, where `handle` only queues it; nothing is noted before. */
  readonly isDone?: () => boolean
}

const usualBatch = 500
/** A mark is noted in the background, so that nobody waits for it. */
const noteTimeoutMs = 1_000
/** A mark that lags only means more events to look through after a start: it moves after this many batches without any event. */
const emptyBatches = 1_000

/** The stored name of a mark. A log that was restored from a backup starts without marks, as it goes on differently from there. */
export const markName = (mark: string, { logId, epoch }: LogIdentity): string => `${mark}-${logId}-${epoch}`

/** Reacts until it is stopped; once that is over, no handler is running and what is done is noted. */
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
  // Noted before the first event, so that the next process begins here too if this one ends early.
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

/** `null` where one of them is, or there are none. */
function earliest(positions: readonly (Position | null)[]): Position | null {
  const known = positions.filter((position) => position !== null)
  const [first = null] = known.toSorted(comparePositions)
  return known.length < positions.length ? null : first
}
