/** Follows the log: passes on the events to which a part reacts, and stores how far it got, so that the next start continues there. */
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
  /** The names under which progress is stored; without any, each start begins at the end of the log. */
  readonly marks?: readonly string[]
  /** Where a part without a mark begins. */
  readonly from: 'beginning' | 'head'
  readonly filter: EventFilter
  /** How many events are handed on at once. */
  readonly batch?: number
  /** Handles events. After a pause if this throws, and after a crash, the same events are passed again, so handling them twice must do no harm. */
  readonly handle: HandleEvents
  /** Whether everything that was passed on is done, for a `handle` that only queues it. No progress is stored before that. */
  readonly isDone?: () => boolean
}

const usualBatch = 500
/** How long storing a mark may take, in milliseconds. Marks are stored in the background, so that nobody waits for them. */
const noteTimeoutMs = 1_000
/** The mark moves after this many batches without any event. A mark that lags only means that a start reads more events. */
const emptyBatches = 1_000

/** The stored name of a mark. A log that was restored from a backup starts without marks, because it continues differently. */
export const markName = (mark: string, { logId, epoch }: LogIdentity): string => `${mark}-${logId}-${epoch}`

/** Reacts to events until it is stopped. Once that has resolved, no handler is running, and the progress is stored. */
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
  // Stored before the first event, so that the next process begins here too if this one ends early.
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

/** The earliest position; `null` when one of them is `null`, or there are none. */
function earliest(positions: readonly (Position | null)[]): Position | null {
  const known = positions.filter((position) => position !== null)
  const [first = null] = known.toSorted(comparePositions)
  return known.length < positions.length ? null : first
}
