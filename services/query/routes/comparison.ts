/** The route that reads a comparison: the original task and its alternatives. */
import { getComparison, type Compared } from '#domain/api/comparison.schema.ts'
import { runFactsView, runningMsOf, type RunFactsDocument } from '#domain/views/runFacts.ts'
import { tasksView, type TaskDocument } from '#domain/views/tasks.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { presentTask } from '#platform/reads/apiForms.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

export const comparisonRoutes: readonly Route<QueryServices>[] = [
  route(getComparison, signedIn, fresh, ownTask, async ({ task }, services) => {
    const { documents } = services
    const original = task.original && (await documents.get(tasksView, task.original.taskId))
    const first = original && original.owner === task.owner ? original : task
    const ids = [first.id, ...(first.alternatives ?? []).map(({ taskId }) => taskId), task.id]
    const found = await documents.getMany(tasksView, [...new Set(ids)])
    const own = [...found.values()].filter(({ owner }) => owner === task.owner)
    own.sort((one, other) => (one.order < other.order ? -1 : 1))
    const facts = await documents.getMany(
      runFactsView,
      own.map(({ id }) => id),
    )
    return { compared: await Promise.all(own.map((each) => compared(services, each, facts.get(each.id)))) }
  }),
]

async function compared(
  services: QueryServices,
  document: TaskDocument,
  facts: RunFactsDocument | undefined,
): Promise<Compared> {
  return {
    task: await presentTask(services, document),
    baseCommit: facts?.baseCommit ?? null,
    runningMs: facts ? runningMsOf(facts, services.clock.now()) : 0,
    tests: facts?.tests ?? { runs: 0, lastPassed: null },
  }
}
