/** The route that reads the provenance of a file's lines: which turn and which tool call wrote them. */
import { getProvenance } from '#domain/api/provenance.schema.ts'
import type { AnswerOf } from '#domain/api/call.schema.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { chatView } from '#domain/views/chat.ts'
import { logView, type LogDocument } from '#domain/views/commandLog.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { RpcResponse } from '#platform/ports/rpc.ts'
import { fresh, signedIn } from '#platform/http/guards.ts'
import type { Route } from '#platform/http/route.ts'
import { newest } from '#platform/reads/documentPages.ts'
import { writersOf } from '../lineWriters.ts'
import { ownTask, route, type QueryServices } from '../services.ts'

/** How long to wait for the runner that has the workspace. No other runner can answer. */
const runnerTimeoutMs = 10_000
const longestPrompt = 500
/** How many of a task's latest entries in the command log are searched. */
const searchedCalls = 1_000

export const provenanceRoutes: readonly Route<QueryServices>[] = [
  route(getProvenance, signedIn, fresh, ownTask, async ({ task, query: { path } }, services) => {
    const answer = await services.rpc.call(
      'origins',
      { taskId: task.id, ownerId: task.owner, path },
      runnerTimeoutMs,
    )
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
    const turns = await turnsOf(services, task, { ranges: answer.ranges, path, order: answer.turns ?? [] })
    return {
      blob: answer.blob ?? null,
      ranges: answer.ranges.flatMap((range) => byCall(range, turns.get(range.executionId ?? ''))),
      turns: [...turns.values()].map(({ shown }) => shown),
    }
  }),
]

type Answer = AnswerOf<typeof getProvenance>
type Range = NonNullable<RpcResponse<'origins'>['ranges']>[number]

interface TurnsQuery {
  readonly ranges: readonly Range[]
  readonly path: string
  /** The ended turns and commands of the task, oldest first. */
  readonly order: readonly string[]
}

interface FoundTurn {
  readonly shown: Answer['turns'][number]
  /** By line number, the id of the call that wrote the line, for each of the turn's lines in the file. */
  readonly callOfLine: ReadonlyMap<number, string | null>
}

/** Splits a range of a turn's lines into a range for each call. */
function byCall({ from, to, executionId }: Range, turn: FoundTurn | undefined): Answer['ranges'] {
  const ranges: Answer['ranges'] = []
  for (let line = from; line <= to; line += 1) {
    const callId = turn?.callOfLine.get(line) ?? null
    const last = ranges.at(-1)
    if (last?.callId === callId) last.to = line
    else ranges.push({ from: line, to: line, executionId, callId })
  }
  return ranges
}

/** The turns that wrote the ranges, by id. */
async function turnsOf(
  { documents }: QueryServices,
  task: TaskDocument,
  { ranges, path, order }: TurnsQuery,
): Promise<ReadonlyMap<string, FoundTurn>> {
  const recorded = await newest(documents, logView, { task: task.id }, searchedCalls)
  const oldest = recorded.length === searchedCalls ? recorded.at(-1)?.executionId : null
  const executionIds = new Set(ranges.flatMap(({ executionId }) => executionId ?? []))
  const found = [...executionIds].map(async (executionId): Promise<readonly [string, FoundTurn]> => {
    const messages = await documents.find(chatView, {
      where: { task: task.id, executionId },
      sort: { field: 'executionId', direction: 'ascending' },
      limit: searchedCalls,
    })
    const promptMessage = messages.find(
      ({ messageType, isSteering }) => (messageType === 'user' || messageType === 'command') && !isSteering,
    )
    const ofTurn = recorded.filter((call) => call.executionId === executionId).toReversed()
    const its = ranges.filter((range) => range.executionId === executionId)
    const lines = its.flatMap(({ from, to, hashes }) =>
      Array.from({ length: to - from + 1 }, (_, at) => ({ number: from + at, hash: hashes?.[at] ?? null })),
    )
    const { edits, otherCalls, calls } = writersOf(ofTurn, {
      path: its[0]?.path ?? path,
      lines: lines.map(({ hash }) => hash),
      isWhole: oldest !== executionId,
    })
    const named = [...new Set(calls)]
    const [only = null] = named.length === 1 ? named : []
    const isElsewhere = promptMessage === undefined && task.forkedFrom?.executionId === executionId
    const index = order.indexOf(executionId)
    const shown = {
      taskId: isElsewhere ? (task.forkedFrom?.taskId ?? task.id) : task.id,
      executionId,
      kind: promptMessage?.isCommand === true ? ('command' as const) : ('turn' as const),
      number: index === -1 ? null : index + 1,
      moment: promptMessage?.version ?? null,
      agent: promptMessage?.agent ?? null,
      messageId: promptMessage?.messageId ?? null,
      prompt:
        promptMessage?.message == null ? null : [...promptMessage.message].slice(0, longestPrompt).join(''),
      at: promptMessage?.createdAt ?? null,
      edits: edits.map(({ id }) => id),
      otherCalls,
      call: only && callOf(only),
      calls: named.filter((call) => call !== null).map(callOf),
    }
    const callOfLine = new Map(lines.map(({ number }, at) => [number, calls[at]?.id ?? null]))
    return [executionId, { shown, callOfLine }]
  })
  return new Map(await Promise.all(found))
}

function callOf({ id, kind, name, target, additions, deletions, version: moment }: LogDocument) {
  // Thoughts, texts and artifacts write no lines, so none of them gets here. `'other'` only satisfies the type of the answer.
  return {
    id,
    kind: kind === 'thinking' || kind === 'said' || kind === 'artifact' ? 'other' : kind,
    name,
    target,
    additions,
    deletions,
    moment,
  } as const
}
