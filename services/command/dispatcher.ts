/** Turns what was requested into jobs. A job's id is the id of the request, so a batch that is handled twice queues it once. */
import { parseStream } from '#domain/kernel/ids.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import type { EventLog } from '#platform/commands/eventLog.ts'
import type { EventStore, Subscription } from '#platform/ports/eventStore.ts'
import type { Job, Jobs } from '#platform/ports/jobs.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'

export interface DispatcherEngines {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly jobs: Jobs
  readonly log: EventLog
}

const checkpointName = 'dispatcher'
const batch = 500
const markedEvery = 5_000
const requests = new Set(['ExecutionRequested', 'PullRequestRequested'])

/** Starts after the last request that was queued and never ends by itself. */
export async function startDispatcher({
  eventStore,
  readStore,
  jobs,
  log,
}: DispatcherEngines): Promise<Subscription> {
  const after = await readStore.checkpoint(checkpointName)
  let unmarked = 0
  return eventStore.subscribe(after, batch, async (events) => {
    const wanted = events.filter((event) => requests.has(event.type))
    for (const event of wanted) await jobs.put(await jobOf(event, log))
    unmarked += events.length
    const last = events.at(-1)
    // A checkpoint that lags is only more to look through after a start: most events ask for nothing.
    if (!last || (wanted.length === 0 && unmarked < markedEvery)) return
    await readStore.apply([], { projection: checkpointName, position: last.position })
    unmarked = 0
  })
}

async function jobOf(stored: StoredEvent, log: EventLog): Promise<Job> {
  const event = await log.open(stored)
  const stream = parseStream(event.stream)
  const taskId = stream.kind === 'task' ? stream.id : ''
  switch (event.type) {
    case 'ExecutionRequested':
      return {
        id: event.data.executionId,
        kind: 'execution',
        payload: { taskId, executionId: event.data.executionId },
      }
    case 'PullRequestRequested':
      return {
        id: event.data.requestId,
        kind: 'pull_request',
        payload: { taskId, requestId: event.data.requestId },
      }
    default:
      throw new Error(`No job comes of ${event.type}.`)
  }
}
