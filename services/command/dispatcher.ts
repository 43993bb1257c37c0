/** Turns requests and deletions in the log into jobs. A job has the id of its request, so that handling an event twice creates only one job. */
import { z } from 'zod'
import { parseStream } from '#domain/kernel/streams.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import type { LogIdentity } from '#domain/log.ts'
import { task } from '#domain/task/task.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import { markName, startReactor } from '#platform/eventlog/reactor.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { deletions, erasureJob, isDeletion, openWorkOf } from '#platform/commands/requestedJobs.ts'
import type { Engines } from '#platform/compose.ts'
import {
  isDamaged,
  type HandleEvents,
  type LogRecord,
  type Subscription,
} from '#platform/ports/eventStore.ts'
import type { Job, Jobs } from '#platform/ports/jobs.ts'
import { now } from '#platform/telemetry/telemetry.ts'

/**
 * The names of two marks: `dispatched` says up to which event requests became jobs, `erased` says the same for deletions. Without the marks, all old
 * deletions and all old requests without an outcome become jobs.
 */
export const dispatcherMarks = (identity: LogIdentity) => ({
  dispatched: markName('dispatched', identity),
  erased: markName('erased', identity),
})
const requests = ['ExecutionRequested', 'PullRequestRequested']
const kinds = ['execution', 'pull_request', 'erasure'] as const

/** Starts the dispatcher, which continues after the earlier of its two marks and runs until it is stopped. */
export async function startDispatcher(
  engines: Pick<Engines, 'eventStore' | 'jobs' | 'log' | 'logIdentity' | 'commands' | 'emit' | 'logger'>,
): Promise<Subscription> {
  const { eventStore, jobs, log, logIdentity, commands, emit, logger } = engines
  const marks = dispatcherMarks(logIdentity)
  const [dispatched, erased] = [await jobs.marked(marks.dispatched), await jobs.marked(marks.erased)]
  // Without a mark, the queue is new or was lost. Of the requests that are already in the log, only those without an outcome become jobs.
  const old = dispatched === null ? await eventStore.head() : null
  const isOpen = async (event: LogRecord) =>
    old === null || comparePositions(event.position, old) > 0 || (await hasNoEnd(event, commands))
  const handle: HandleEvents = async (events) => {
    for (const event of events) {
      if (!isAfter(event, isDeletion(event) ? erased : dispatched)) continue
      const begun = now()
      try {
        if (isDamaged(event)) throw new UnreadableEvent(event, event.damage)
        if (!isDeletion(event) && !(await isOpen(event))) continue
        const job = isDeletion(event) ? erasureJob(event) : await jobOf(event, log)
        await jobs.put(job)
        emit({ kind: 'queued', job: job.kind, event, begun, ended: now() })
      } catch (fault) {
        // A task whose stream cannot be read is skipped, so that other tasks get their jobs.
        if (!(fault instanceof UnreadableEvent)) throw fault
        logger.error({ err: fault }, 'skipped a request in an unreadable stream')
      }
    }
  }
  const reactor = await startReactor(engines, {
    marks: ['dispatched', 'erased'],
    from: 'beginning',
    filter: { streams: ['task-', 'project-', 'user-'], types: [...requests, ...deletions] },
    handle,
  })
  emit({ kind: 'dispatcher', pending: () => pendingOf(jobs) })
  return {
    async stop() {
      emit({ kind: 'dispatcher', pending: null })
      await reactor.stop()
    },
  }
}

/** Whether the request has no outcome yet. */
async function hasNoEnd(stored: LogRecord, commands: Pick<Commands, 'load'>): Promise<boolean> {
  const { state } = await commands.load(task, stored.stream)
  const request = Request.parse(isDamaged(stored) ? {} : stored.data)
  return openWorkOf(state).some(({ id }) => id === request.executionId || id === request.requestId)
}
const Request = z.object({ executionId: z.string().optional(), requestId: z.string().optional() })

async function pendingOf(jobs: Jobs): Promise<ReadonlyMap<string, number>> {
  return new Map(await Promise.all(kinds.map(async (kind) => [kind, await jobs.pending(kind)] as const)))
}

function isAfter({ position }: LogRecord, checkpoint: Position | null): boolean {
  return checkpoint === null || comparePositions(position, checkpoint) > 0
}

async function jobOf(stored: LogRecord, log: EventLog): Promise<Job> {
  const event = await log.open(stored)
  const stream = parseStream(event.stream)
  const taskId = stream.kind === 'task' ? stream.id : ''
  // All events that the job causes refer to the event that requested the job.
  const origin = { correlationId: event.meta.correlationId, causationId: event.id }
  const owner = await ownerOf(event.stream, log)
  switch (event.type) {
    case 'ExecutionRequested': {
      const { executionId } = event.data
      return { id: executionId, kind: 'execution', ...owner, payload: { taskId, executionId, ...origin } }
    }
    case 'PullRequestRequested': {
      const { requestId } = event.data
      return { id: requestId, kind: 'pull_request', ...owner, payload: { taskId, requestId, ...origin } }
    }
    default:
      throw new Error(`No job comes of ${event.type}.`)
  }
}

/** The owner of the task as `person` of a job, because the job counts towards this person's share. */
async function ownerOf(stream: string, log: EventLog): Promise<Pick<Job, 'person'>> {
  const [created] = await log.read(stream, 0, 1)
  return created?.type === 'TaskCreated' ? { person: created.data.ownerId } : {}
}
