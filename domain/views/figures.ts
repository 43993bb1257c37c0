/**
 * The figures of tasks: one document per task, with a row for each combination of day, agent, model and payer. A request for the figures of a period
 * sums up these rows. A document has no texts of people or agents, and stays when its task is deleted, because the costs still count.
 */
import type { Payer } from '../agentKeys.ts'
import type { AgentName } from '../agents.ts'
import { added, noFigures, paidBy, type DayFigures, type Figures } from '../figures.ts'
import { ownDocument, type AnyRecorded, type View, type ViewDocument } from './view.ts'

type Use = Pick<
  Figures,
  'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens' | 'costUsd'
> & {
  readonly model: string | null
}

interface PaidUse extends Use {
  readonly payer: Payer
}

interface OpenTurn {
  readonly id: string
  readonly agent: AgentName
  /** Who pays for the turn; `server` until the agent has started. */
  readonly payer: Payer
  readonly requestedAt: string
  readonly startedAt: string | null
  /** The usage by model and payer, in the order of first use. Different attempts may have different payers. */
  readonly uses: readonly PaidUse[]
}

export interface FiguresDocument extends ViewDocument {
  readonly owner: string
  readonly project: string
  readonly agent: AgentName
  /** The model with the most output in the last ended turn that used any model. */
  readonly model: string | null
  /** The payer of the last ended turn; `server` before the first. */
  readonly payer: Payer
  readonly createdAt: string
  /** The task's first agent, the main model of the first turn that used a model, and the payer of that turn. */
  readonly first: { readonly agent: AgentName; readonly model: string | null; readonly payer: Payer }
  readonly turn: OpenTurn | null
  readonly days: readonly DayFigures[]
  /** The time of the last counted merge, so that no merge is counted twice when the code host reports it again. */
  readonly mergedAt?: string | null
  /** The time of the last event that was folded into the document. */
  readonly last: string
}

const counted = [
  'TaskCreated',
  'ExecutionRequested',
  'ExecutionStarted',
  'AgentStarted',
  'UsageRecorded',
  'ExecutionCompleted',
  'ExecutionFailed',
  'ExecutionCancelled',
  'PullRequestOpened',
  'PullRequestObserved',
] as const

export const figuresView: View<FiguresDocument> = {
  collection: 'figures',
  version: 4,
  readsFrom: 1,
  streams: ['task'],
  types: counted,
  indexes: [['last'], ['owner', 'last']],
  touches: ownDocument('task', counted),
  evolve: (document, event, id) => {
    if (event.type === 'TaskCreated') return document ?? created(event, id)
    return document && count(document, event)
  },
}

function created(event: Extract<AnyRecorded, { type: 'TaskCreated' }>, id: string): FiguresDocument {
  const { ownerId, projectId, agent } = event.data
  return {
    id,
    owner: ownerId,
    project: projectId,
    agent,
    model: null,
    payer: 'server',
    createdAt: event.at,
    first: { agent, model: null, payer: 'server' },
    turn: null,
    days: [],
    last: event.at,
    position: event.position,
    version: event.revision,
  }
}

function count(document: FiguresDocument, event: AnyRecorded): FiguresDocument {
  const seen = { ...document, version: event.revision, last: event.at }
  const { turn } = document
  switch (event.type) {
    case 'ExecutionRequested': {
      const { kind, executionId, agent } = event.data
      // A command by a person has no model and is not counted as a turn.
      if (kind === 'command') return seen
      return {
        ...seen,
        agent,
        turn: { id: executionId, agent, payer: 'server', requestedAt: event.at, startedAt: null, uses: [] },
      }
    }
    case 'ExecutionStarted':
      if (turn?.id !== event.data.executionId) return seen
      return { ...seen, turn: { ...turn, startedAt: turn.startedAt ?? event.at } }
    case 'AgentStarted':
      if (turn?.id !== event.data.executionId) return seen
      return { ...seen, turn: { ...turn, payer: event.data.payer ?? 'server' } }
    case 'UsageRecorded': {
      const { executionId, ...use } = event.data
      if (turn?.id !== executionId)
        return {
          ...seen,
          days: withRow(seen.days, rowOf(seen, event.at, costing({ ...use, payer: seen.payer }))),
        }
      return { ...seen, turn: { ...turn, uses: withUse(turn.uses, { ...use, payer: turn.payer }) } }
    }
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      return turn?.id === event.data.executionId ? ended(seen, turn, event) : seen
    case 'PullRequestOpened':
      return {
        ...seen,
        days: withRow(seen.days, rowOf(seen, event.at, { pullRequests: 1, model: seen.model })),
      }
    case 'PullRequestObserved':
      return merged(seen, event.data.mergedAt)
    default:
      return seen
  }
}

function merged(document: FiguresDocument, mergedAt: string | null): FiguresDocument {
  if (mergedAt === null || mergedAt === document.mergedAt) return document
  const row = rowOf(document, mergedAt, { mergedPullRequests: 1, model: document.model })
  return { ...document, mergedAt, days: withRow(document.days, row) }
}

const outcomes = {
  ExecutionCompleted: 'completed',
  ExecutionFailed: 'failed',
  ExecutionCancelled: 'cancelled',
} as const

function ended(
  document: FiguresDocument,
  turn: OpenTurn,
  { type, at }: Pick<AnyRecorded, 'at'> & { readonly type: keyof typeof outcomes },
): FiguresDocument {
  const { requestedAt, startedAt } = turn
  const used = mostUsed(turn)
  const times = {
    [outcomes[type]]: 1,
    waitingMs: between(requestedAt, startedAt ?? at),
    runningMs: startedAt === null ? 0 : between(startedAt, at),
  }
  return {
    ...document,
    turn: null,
    model: used ?? document.model,
    payer: turn.payer,
    first:
      document.first.model === null ? { ...document.first, model: used, payer: turn.payer } : document.first,
    days: [...rowsOf(turn), { ...placeOf(turn), ...times }].reduce(withRow, document.days),
  }
}

/** The milliseconds from one time to another; 0 if the clocks of different machines have reversed the order of the two times. */
const between = (from: string, to: string): number => Math.max(0, Date.parse(to) - Date.parse(from))

const dayOf = (at: string): string => at.slice(0, 10)

/** The row in which a turn is counted, given by the day of its request, its agent, the model with the most output, and its payer. */
function placeOf(turn: OpenTurn): DayFigures {
  return { day: dayOf(turn.requestedAt), agent: turn.agent, model: mostUsed(turn), payer: turn.payer }
}

function mostUsed({ uses }: OpenTurn): string | null {
  const [first, ...others] = uses
  return (
    others.reduce((most, use) => (use.outputTokens > (most?.outputTokens ?? 0) ? use : most), first)?.model ??
    null
  )
}

function rowsOf(turn: OpenTurn): readonly DayFigures[] {
  const place = placeOf(turn)
  return [{ ...place, turns: 1 }, ...turn.uses.map((use) => ({ ...place, ...costing(use) }))]
}

const costing = (use: PaidUse) => ({ ...use, ...paidBy(use.payer, use.costUsd) })

function rowOf(
  { agent, payer }: FiguresDocument,
  at: string,
  row: Omit<DayFigures, 'day' | 'agent' | 'payer'>,
): DayFigures {
  return { ...row, day: dayOf(at), agent, payer }
}

function withRow(days: readonly DayFigures[], more: DayFigures): readonly DayFigures[] {
  const index = days.findIndex(
    ({ day, agent, model, payer }) =>
      day === more.day && agent === more.agent && model === more.model && payer === more.payer,
  )
  const { day, agent, model, payer = 'server' } = more
  const row = { day, agent, model, payer, ...added({ ...noFigures, ...days[index] }, more) }
  return index === -1 ? [...days, row] : days.with(index, row)
}

function withUse(uses: readonly PaidUse[], more: PaidUse): readonly PaidUse[] {
  const index = uses.findIndex(({ model, payer }) => model === more.model && payer === more.payer)
  const before = uses[index]
  if (before === undefined) return [...uses, more]
  return uses.with(index, {
    model: more.model,
    payer: more.payer,
    inputTokens: before.inputTokens + more.inputTokens,
    outputTokens: before.outputTokens + more.outputTokens,
    cacheReadTokens: before.cacheReadTokens + more.cacheReadTokens,
    cacheWriteTokens: before.cacheWriteTokens + more.cacheWriteTokens,
    costUsd: before.costUsd + more.costUsd,
  })
}

/** All rows of a task, including a row for its creation, and rows for a turn that has not ended. */
export function figuresRows({ createdAt, first, turn, days }: FiguresDocument): readonly DayFigures[] {
  return [{ ...first, day: dayOf(createdAt), tasks: 1 }, ...days, ...(turn === null ? [] : rowsOf(turn))]
}
