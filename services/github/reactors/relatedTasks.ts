/**
 * Completes what a crash cut short when a task was created: a task made from another task is recorded on that other task, and an alternative that was
 * never created loses its place in the comparison. Usually the request that creates the task does this itself.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { v5 as uuidv5 } from 'uuid'
import { Fault } from '#domain/kernel/errors.ts'
import { parseStream, taskStream } from '#domain/kernel/streams.ts'
import type { TaskCommand } from '#domain/task/commands.ts'
import { task } from '#domain/task/task.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { Engines } from '#platform/compose.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import { startReactor, type ReactorEngines } from '#platform/eventlog/reactor.ts'
import type { LogRecord, Subscription } from '#platform/ports/eventStore.ts'

type RelatedTasksEngines = ReactorEngines & Pick<Engines, 'log' | 'commands' | 'clock' | 'logger'>

/** How long a request may take to complete the records itself, plus a margin: requests end after 30 s. */
const creationTimeoutMs = 60_000
const pollIntervalMs = 500

/** Completes the records on related tasks until it is stopped. Begins after the last event that an earlier process has handled. */
export async function startRelatedTasks(engines: RelatedTasksEngines): Promise<Subscription> {
  const stopping = new AbortController()
  const reactor = await startReactor(engines, {
    marks: ['related'],
    from: 'beginning',
    filter: {
      streams: ['task-'],
      types: ['TaskCreatedFromTurn', 'TaskCreatedToCompare', 'AlternativeAdded'],
    },
    handle: async (events) => {
      for (const event of events) await noteRelation(engines, event, stopping.signal)
    },
  })
  return {
    async stop() {
      stopping.abort()
      await reactor.stop()
    },
  }
}

async function noteRelation(
  engines: RelatedTasksEngines,
  event: LogRecord,
  signal: AbortSignal,
): Promise<void> {
  try {
    await settle(engines, event, signal)
  } catch (fault) {
    // A task that no longer exists or cannot be read is skipped, so that the others are handled.
    const isFinal = fault instanceof Fault ? fault.code !== 'conflict' : fault instanceof UnreadableEvent
    if (!isFinal) throw fault
    engines.logger.warn({ err: fault, stream: event.stream }, 'a related task could not be noted')
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

/** The title that a task was created with; `''` when it was erased. */
async function titleOf({ log }: RelatedTasksEngines, stream: string): Promise<string> {
  const [created] = await log.read(stream, 0, 1)
  return created?.type === 'TaskCreated' ? (created.content?.title ?? '') : ''
}

/** Whether the alternative is created or its place is freed within the time that a request may take. Throws when the reactor is stopped. */
async function isSettledInTime(
  { commands, clock }: RelatedTasksEngines,
  { at, stream, data: { taskId } }: Extract<AnyRecorded, { type: 'AlternativeAdded' }>,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    // The clock is read before the state, so that an alternative that was created in between is seen.
    const isLate = clock.now().getTime() - Date.parse(at) > creationTimeoutMs
    const { state } = await commands.load(task, taskStream(taskId))
    if (state.kind !== 'none') return true
    const { state: original } = await commands.load(task, stream)
    if (original.kind !== 'task' || !original.alternatives.includes(taskId)) return true
    if (isLate) return false
    await pause(pollIntervalMs, undefined, { signal })
  }
}

/** Executes the command as the request that caused the event would have done: in the name of the same person. */
async function tell(
  { commands }: RelatedTasksEngines,
  { id, meta: { actor, correlationId } }: AnyRecorded,
  taskId: string,
  command: TaskCommand,
): Promise<void> {
  const cause = { actor, commandId: uuidv5('related', id), correlationId, causationId: id }
  await commands.execute(task, taskStream(taskId), command, cause)
}
