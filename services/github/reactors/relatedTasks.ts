/**
 * Tasks that name each other: a task that was created from another is noted in that one, and an alternative that was not created gives its
 * place back. Requests do both themselves; this makes up for those that a crash cut short.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { v5 as uuidv5 } from 'uuid'
import { Fault } from '#domain/kernel/errors.ts'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import type { TaskCommand } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import type { Logger } from '#platform/log.ts'
import type { Clock } from '#platform/ports/clock.ts'
import type { EventStore, HandleEvents, LogRecord, Subscription } from '#platform/ports/eventStore.ts'
import type { Jobs } from '#platform/ports/jobs.ts'

export interface RelatedTasksEngines {
  readonly eventStore: Pick<EventStore, 'subscribe'>
  readonly jobs: Pick<Jobs, 'mark' | 'marked'>
  readonly log: EventLog
  readonly logIdentity: LogIdentity
  readonly commands: Pick<Commands, 'load' | 'execute'>
  readonly clock: Clock
  readonly logger: Logger
}

/** How long the request itself may take to do it: it ends after 30 s. */
const createdWithinMs = 60_000
const lookedEveryMs = 500
const batch = 100
/** The checkpoint moves after this many batches without such an event. */
const markedEvery = 1_000
const relations = {
  streams: ['task-'],
  types: ['TaskCreatedFromTurn', 'TaskCreatedToCompare', 'AlternativeAdded'],
}

/** Follows the log from where it stopped last. Never ends by itself. */
export async function startRelatedTasks(engines: RelatedTasksEngines): Promise<Subscription> {
  const { eventStore, jobs, logIdentity, logger } = engines
  const mark = `related-${logIdentity.logId}-${logIdentity.epoch}`
  const stopping = new AbortController()
  let unmarked = 0
  const handle: HandleEvents = async (events, upTo) => {
    for (const event of events) {
      try {
        await settle(engines, event, stopping.signal)
      } catch (fault) {
        // A task that is gone, or that cannot be read, is not told; the others are.
        const isFinal = fault instanceof Fault ? fault.code !== 'conflict' : fault instanceof UnreadableEvent
        if (!isFinal) throw fault
        logger.warn({ err: fault, stream: event.stream }, 'a related task could not be noted')
      }
    }
    unmarked = events.length > 0 ? markedEvery : unmarked + 1
    if (unmarked < markedEvery) return
    await jobs.mark(mark, upTo)
    unmarked = 0
  }
  const subscription = eventStore.subscribe(await jobs.marked(mark), batch, handle, relations)
  return {
    async stop() {
      stopping.abort()
      await subscription.stop()
    },
  }
}

async function settle(engines: RelatedTasksEngines, stored: LogRecord, signal: AbortSignal): Promise<void> {
  const event = await engines.log.open(stored)
  const stream = parseStream(event.stream)
  if (stream.kind !== 'task') return
  switch (event.type) {
    case 'TaskCreatedFromTurn': {
      const { taskId, executionId } = event.data
      const title = await titleOf(engines, event.stream)
      return tell(engines, event, taskId, { type: 'RecordFork', taskId: stream.id, executionId, title })
    }
    case 'TaskCreatedToCompare': {
      const title = event.content?.title ?? ''
      return tell(engines, event, event.data.taskId, { type: 'RecordAlternative', taskId: stream.id, title })
    }
    case 'AlternativeAdded': {
      const { taskId } = event.data
      if (await isSettledInTime(engines, event, signal)) return
      return tell(engines, event, stream.id, { type: 'RemoveAlternative', taskId })
    }
  }
}

/** The title that a task was created with; `''` once it was erased. */
async function titleOf({ log }: RelatedTasksEngines, stream: string): Promise<string> {
  const [created] = await log.read(stream, 0, 1)
  return created?.type === 'TaskCreated' ? (created.content?.title ?? '') : ''
}

/** Waits as long as the request may take until the alternative is created, or has no place any more; throws when this is to stop. */
async function isSettledInTime(
  { commands, clock }: RelatedTasksEngines,
  { at, stream, data: { taskId } }: Extract<AnyRecorded, { type: 'AlternativeAdded' }>,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    // Asked after the time was read: what is created in between is seen.
    const isLate = clock.now().getTime() - Date.parse(at) > createdWithinMs
    const { state } = await commands.load(task, taskStream(taskId))
    if (state.kind !== 'none') return true
    const { state: original } = await commands.load(task, stream)
    if (original.kind !== 'task' || !original.alternatives.includes(taskId)) return true
    if (isLate) return false
    await pause(lookedEveryMs, undefined, { signal })
  }
}

/** In the name of whoever caused the event, as the request would have done it. */
async function tell(
  { commands }: RelatedTasksEngines,
  { id, meta: { actor, correlationId } }: AnyRecorded,
  taskId: string,
  command: TaskCommand,
): Promise<void> {
  const cause = { actor, commandId: uuidv5('related', id), correlationId, causationId: id }
  await commands.execute(task, taskStream(taskId), command, cause)
}
