/** Where the lines of a file come from. */
import { getProvenance } from '#domain/api/provenance.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { chatView } from '#domain/views/chat.ts'
import { logView, type LogDocument } from '#domain/views/log.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { writersOf } from '../lineOrigins.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

/** Only the runner that has the workspace can tell. */
const toldWithinMs = 10_000
const longestPrompt = 500
/** Of a task, the latest. */
const searchedCalls = 1_000

export const provenanceRoutes: readonly Route<QueryServices>[] = [
  route(getProvenance, signedIn, fresh, ownTask, async ({ task, query: { path } }, services) => {
    const answer = await services.rpc.ask('origins', { taskId: task.id, path }, toldWithinMs)
    if (!answer)
      throw new Fault(
        'not_initialized',
        "The lines can't be traced right now: no runner has this task's repository available.",
      )
    if (answer.ranges === null)
      throw new Fault(
        'not_found',
        "This file can't be traced: it is not a text file, or no turn with a snapshot has ended since it was written.",
        'path',
      )
    const named = new Set(answer.ranges.map(({ executionId }) => executionId).filter((id) => id !== null))
    const asked = { executionIds: [...named], path, order: answer.turns ?? [] }
    return {
      blob: answer.blob ?? null,
      ranges: [...answer.ranges],
      turns: await turnsOf(services, task, asked),
    }
  }),
]

type Turns = AnswerOf<typeof getProvenance>['turns']

interface TurnsAsked {
  readonly executionIds: readonly string[]
  readonly path: string
  /** All turns and commands of the task, oldest first. */
  readonly order: readonly string[]
}

async function turnsOf(
  { documents }: QueryServices,
  task: TaskDocument,
  { executionIds, path, order }: TurnsAsked,
): Promise<Turns> {
  const calls = await documents.find(logView, {
    where: { task: task.id },
    sort: { field: 'order', direction: 'descending' },
    limit: searchedCalls,
  })
  const oldest = calls.length === searchedCalls ? calls.at(-1)?.executionId : null
  return Promise.all(
    executionIds.map(async (executionId) => {
      const messages = await documents.find(chatView, {
        where: { task: task.id, executionId },
        sort: { field: 'executionId', direction: 'ascending' },
        limit: searchedCalls,
      })
      const asked = messages.find(({ messageType }) => messageType === 'user' || messageType === 'command')
      const ofTurn = calls.filter((call) => call.executionId === executionId).toReversed()
      const { edits, otherCalls, only } = writersOf(ofTurn, path, oldest !== executionId)
      const isElsewhere = asked === undefined && task.forkedFrom?.executionId === executionId
      const index = order.indexOf(executionId)
      return {
        taskId: isElsewhere ? (task.forkedFrom?.taskId ?? task.id) : task.id,
        executionId,
        kind: asked?.isCommand === true ? ('command' as const) : ('turn' as const),
        number: index === -1 ? null : index + 1,
        moment: asked?.version ?? null,
        agent: asked?.agent ?? null,
        messageId: asked?.messageId ?? null,
        prompt: asked?.message == null ? null : [...asked.message].slice(0, longestPrompt).join(''),
        at: asked?.createdAt ?? null,
        edits: edits.map(({ id }) => id),
        otherCalls,
        call: only && callOf(only),
      }
    }),
  )
}

function callOf({ id, kind, name, target, additions, deletions, version: moment }: LogDocument) {
  return { id, kind, name, target, additions, deletions, moment }
}
