/** A task beside its alternatives. */
import { getComparison, type Compared } from '#domain/api/comparison.schema.ts'
import { runFactsOf } from '#domain/history/runFacts.ts'
import { taskStream } from '#domain/kernel/streams.ts'
import { task as decider } from '#domain/task/task.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { presentTask } from '#platform/reads/present.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

/** Of a longer history, the latest events count. */
const mostEvents = 10_000

export const comparisonRoutes: readonly Route<QueryServices>[] = [
  route(getComparison, signedIn, fresh, ownTask, async ({ task }, services) => {
    const { documents } = services
    const original = task.original && (await documents.get(tasksView, task.original.taskId))
    const first = original && original.owner === task.owner ? original : task
    const ids = [first.id, ...(first.alternatives ?? []).map(({ taskId }) => taskId), task.id]
    const found = await documents.getMany(tasksView, [...new Set(ids)])
    const own = [...found.values()].filter(({ owner }) => owner === task.owner)
    own.sort((one, other) => (one.order < other.order ? -1 : 1))
    return { compared: await Promise.all(own.map((each) => compared(services, each))) }
  }),
]

async function compared(services: QueryServices, document: TaskDocument): Promise<Compared> {
  const { log, commands, clock } = services
  const events = await latestEvents(log, taskStream(document.id), document.version)
  const { state } = await commands.load(decider, taskStream(document.id)).catch((fault: unknown) => {
    if (fault instanceof UnreadableEvent) return { state: null }
    throw fault
  })
  return {
    task: await presentTask(services, document),
    baseCommit: state?.kind === 'task' ? state.baseCommit : null,
    ...runFactsOf(events, clock.now()),
  }
}

/** Up to the first that cannot be read. */
async function latestEvents(log: EventLog, stream: string, last: number): Promise<readonly AnyRecorded[]> {
  try {
    return await log.read(stream, Math.max(0, last + 1 - mostEvents), mostEvents)
  } catch (fault) {
    if (fault instanceof UnreadableEvent) return []
    throw fault
  }
}
