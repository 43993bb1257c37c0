/**
 * Turns what was requested into jobs. A job's id is the id of the request, so a batch that is handled twice queues it once. And what
 * follows from a deletion: the secrets of the project are destroyed.
 */
import { parseStream } from '#domain/kernel/ids.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import type { EventLog } from '#platform/commands/eventLog.ts'
import type { EventStore, Subscription } from '#platform/ports/eventStore.ts'
import type { Job, Jobs } from '#platform/ports/jobs.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import type { ProjectSecrets } from '#platform/projectSecrets.ts'
import { moment, type Watch } from '#platform/watch/watch.ts'

export interface DispatcherEngines {
  readonly eventStore: EventStore
  readonly readStore: ReadStore
  readonly jobs: Jobs
  readonly log: EventLog
  readonly projectSecrets: Pick<ProjectSecrets, 'destroy'>
  readonly watch: Watch
}

const checkpointName = 'dispatcher'
const batch = 500
const markedEvery = 5_000
const requests = new Set(['ExecutionRequested', 'PullRequestRequested'])
const kinds = ['execution', 'pull_request'] as const

/** Starts after the last request that was queued and never ends by itself. */
export async function startDispatcher({
  eventStore,
  readStore,
  jobs,
  log,
  projectSecrets,
  watch,
}: DispatcherEngines): Promise<Subscription> {
  const after = await readStore.checkpoint(checkpointName)
  let unmarked = 0
  const subscription = eventStore.subscribe(after, batch, async (events) => {
    const wanted = events.filter(({ type }) => requests.has(type) || type === 'ProjectDeleted')
    for (const event of wanted) {
      if (event.type === 'ProjectDeleted') {
        await projectSecrets.destroy(projectOf(event))
        continue
      }
      const begun = moment()
      const job = await jobOf(event, log)
      await jobs.put(job)
      watch({ kind: 'queued', job: job.kind, event, begun, ended: moment() })
    }
    unmarked += events.length
    const last = events.at(-1)
    // A checkpoint that lags is only more to look through after a start: most events ask for nothing.
    if (!last || (wanted.length === 0 && unmarked < markedEvery)) return
    await readStore.apply([], { projection: checkpointName, position: last.position })
    unmarked = 0
  })
  watch({ kind: 'dispatcher', pending: () => pendingOf(jobs) })
  return {
    stop() {
      watch({ kind: 'dispatcher', pending: null })
      return subscription.stop()
    },
  }
}

async function pendingOf(jobs: Jobs): Promise<ReadonlyMap<string, number>> {
  return new Map(await Promise.all(kinds.map(async (kind) => [kind, await jobs.pending(kind)] as const)))
}

function projectOf({ stream }: StoredEvent): string {
  const name = parseStream(stream)
  if (name.kind !== 'project') throw new Error(`${stream} is no project.`)
  return name.id
}

async function jobOf(stored: StoredEvent, log: EventLog): Promise<Job> {
  const event = await log.open(stored)
  const stream = parseStream(event.stream)
  const taskId = stream.kind === 'task' ? stream.id : ''
  // What is done for the job goes back to the request that asked for it.
  const origin = { correlationId: event.meta.correlationId, causationId: event.id }
  switch (event.type) {
    case 'ExecutionRequested':
      return {
        id: event.data.executionId,
        kind: 'execution',
        payload: { taskId, executionId: event.data.executionId, ...origin },
      }
    case 'PullRequestRequested':
      return {
        id: event.data.requestId,
        kind: 'pull_request',
        payload: { taskId, requestId: event.data.requestId, ...origin },
      }
    default:
      throw new Error(`No job comes of ${event.type}.`)
  }
}
