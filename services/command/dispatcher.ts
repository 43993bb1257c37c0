/**
 * Turns what was requested, and what was deleted and is to be erased, into jobs. A job's id is the id of the request, so a batch that is
 * handled twice queues it once.
 */
import { z } from 'zod'
import { parseStream } from '#domain/kernel/streams.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import type { LogIdentity } from '#domain/log.ts'
import { task } from '#domain/task/task.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Logger } from '#platform/log.ts'
import {
  isDamaged,
  type EventFilter,
  type EventStore,
  type HandleEvents,
  type LogRecord,
  type Subscription,
} from '#platform/ports/eventStore.ts'
import type { Job, Jobs } from '#platform/ports/jobs.ts'
import { now, type Emit } from '#platform/telemetry/telemetry.ts'
import { deletions, erasureJob, isDeletion, openWorkOf } from '#platform/commands/requestedJobs.ts'

export interface DispatcherEngines {
  readonly eventStore: EventStore
  readonly jobs: Jobs
  readonly log: EventLog
  readonly logIdentity: LogIdentity
  readonly commands: Pick<Commands, 'load'>
  readonly emit: Emit
  readonly logger: Logger
}

/**
 * Separate marks for requests and for deletions, as older deletions are erased as well. A log that was restored from a backup starts without marks:
 * what follows a former mark is no longer what followed it then.
 */
export function dispatcherMarks({
  logId,
  epoch,
}: LogIdentity): Readonly<Record<'dispatched' | 'erased', string>> {
  const of = `${logId}-${epoch}`
  return { dispatched: `dispatched-${of}`, erased: `erased-${of}` }
}
const batch = 500
/** The checkpoint is noted after this many batches that asked for nothing. */
const markedEvery = 1_000
/** The checkpoint is noted in the background, after this time at most: otherwise whoever takes the job would wait with it. */
const markedWithinMs = 1_000
const requests = new Set(['ExecutionRequested', 'PullRequestRequested'])
const asksForWork: EventFilter = {
  streams: ['task-', 'project-', 'user-'],
  types: [...requests, ...deletions],
}
const kinds = ['execution', 'pull_request', 'erasure'] as const

/** Starts after the last request that was queued and never ends by itself. */
export async function startDispatcher({
  eventStore,
  jobs,
  log,
  logIdentity,
  commands,
  emit,
  logger,
}: DispatcherEngines): Promise<Subscription> {
  const marks = dispatcherMarks(logIdentity)
  const [dispatched, erased] = [await jobs.marked(marks.dispatched), await jobs.marked(marks.erased)]
  // Without a mark the queue is new, or was lost: of earlier requests, only those without an outcome are queued.
  const old = dispatched === null ? await eventStore.head() : null
  const isOpen = async (event: LogRecord) =>
    old === null || comparePositions(event.position, old) > 0 || (await hasNoEnd(event, commands))
  let unmarked = 0
  const dispatch: HandleEvents = async (events, upTo) => {
    const wanted = events.filter((event) =>
      isDeletion(event) ? isAfter(event, erased) : requests.has(event.type) && isAfter(event, dispatched),
    )
    for (const event of wanted) {
      const begun = now()
      try {
        if (isDamaged(event)) throw new UnreadableEvent(event, event.damage)
        if (!isDeletion(event) && !(await isOpen(event))) continue
        const job = isDeletion(event) ? erasureJob(event) : await jobOf(event, log)
        await jobs.put(job)
        emit({ kind: 'queued', job: job.kind, event, begun, ended: now() })
      } catch (fault) {
        // Nothing runs for a task whose history cannot be read; everybody else's work goes on.
        if (!(fault instanceof UnreadableEvent)) throw fault
        logger.error({ err: fault }, 'skipped a request in an unreadable stream')
      }
    }
    unmarked += 1
    done = upTo
    // A checkpoint that lags only means more events to look through after a start, as most ask for nothing.
    if (wanted.length > 0 || unmarked >= markedEvery)
      timer ??= setTimeout(() => void noteDone(), markedWithinMs)
  }
  let done: Position | null = null
  let timer: NodeJS.Timeout | undefined
  async function noteDone(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    unmarked = 0
    if (done === null) return
    const upTo = done
    try {
      for (const mark of Object.values(marks)) await jobs.mark(mark, upTo)
    } catch (fault) {
      logger.warn({ err: fault }, 'failed to note how far requests are queued')
      timer ??= setTimeout(() => void noteDone(), markedWithinMs)
    }
  }
  const subscription = eventStore.subscribe(earlier(dispatched, erased), batch, dispatch, asksForWork)
  emit({ kind: 'dispatcher', pending: () => pendingOf(jobs) })
  return {
    async stop() {
      emit({ kind: 'dispatcher', pending: null })
      await subscription.stop()
      await noteDone()
      clearTimeout(timer)
    },
  }
}

/** Whether what the event asked for has no outcome yet. */
async function hasNoEnd(stored: LogRecord, commands: Pick<Commands, 'load'>): Promise<boolean> {
  const { state } = await commands.load(task, stored.stream)
  const asked = Asked.parse(isDamaged(stored) ? {} : stored.data)
  return openWorkOf(state).some(({ id }) => id === asked.executionId || id === asked.requestId)
}
const Asked = z.object({ executionId: z.string().optional(), requestId: z.string().optional() })

async function pendingOf(jobs: Jobs): Promise<ReadonlyMap<string, number>> {
  return new Map(await Promise.all(kinds.map(async (kind) => [kind, await jobs.pending(kind)] as const)))
}

function earlier(one: Position | null, other: Position | null): Position | null {
  if (one === null || other === null) return null
  return comparePositions(one, other) < 0 ? one : other
}

function isAfter({ position }: LogRecord, checkpoint: Position | null): boolean {
  return checkpoint === null || comparePositions(position, checkpoint) > 0
}

async function jobOf(stored: LogRecord, log: EventLog): Promise<Job> {
  const event = await log.open(stored)
  const stream = parseStream(event.stream)
  const taskId = stream.kind === 'task' ? stream.id : ''
  // What is done for the job carries the origin of the request that asked for it.
  const origin = { correlationId: event.meta.correlationId, causationId: event.id }
  switch (event.type) {
    case 'ExecutionRequested':
      return {
        id: event.data.executionId,
        kind: 'execution',
        ...(await ownerOf(event.stream, log)),
        payload: { taskId, executionId: event.data.executionId, ...origin },
      }
    case 'PullRequestRequested':
      return {
        id: event.data.requestId,
        kind: 'pull_request',
        ...(await ownerOf(event.stream, log)),
        payload: { taskId, requestId: event.data.requestId, ...origin },
      }
    default:
      throw new Error(`No job comes of ${event.type}.`)
  }
}

/** The task's owner, by its first event: its jobs take their places. */
async function ownerOf(stream: string, log: EventLog): Promise<Pick<Job, 'person'>> {
  const [created] = await log.read(stream, 0, 1)
  return created?.type === 'TaskCreated' ? { person: created.data.ownerId } : {}
}
