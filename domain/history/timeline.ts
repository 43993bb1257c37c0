/** A task's history for people, who need not know programming: a section for each turn or command, with rows for its steps. */
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { EndStatus } from '../task/phase.ts'
import { outcomeOf } from '../views/chat.ts'
import { commitsIn, groupWith, toolRow, withToolEnd } from './toolRows.ts'
import { questionRow } from './questionRows.ts'
import { changesRow, rowOf, type Changes, type Names } from './eventRows.ts'
import { plainText } from './excerpt.ts'
import { plainRow, type TimelineRow } from './row.ts'

export interface TimelineSection {
  /** The id of the section's execution; `''` before the first execution. */
  readonly executionId: string
  /** The number of the section's turn or command among all turns and commands of the task, from 1. */
  readonly number: number
  readonly kind: 'turn' | 'command'
  readonly prompt: string
  readonly revision: number
  readonly at: string
  readonly outcome: 'queued' | 'running' | EndStatus
  /** The time from start to end in milliseconds; `null` before the end, and when the execution never started. */
  readonly durationMs: number | null
  readonly costUsd: number
  /** The revision at which the execution started; `Infinity` before the start. */
  readonly startedAt: number
  /** The revision at which the execution's end and whole cost were known; `Infinity` before its end. */
  readonly knownAt: number
  readonly rows: readonly TimelineRow[]
}

const unknownYet = { durationMs: null, costUsd: 0, startedAt: Infinity, knownAt: Infinity } as const

interface Draft {
  section: Omit<TimelineSection, 'rows'>
  rows: TimelineRow[]
  startedAt: string | null
}

interface Prompt {
  readonly text: string
  readonly isCommand: boolean
  readonly revision: number
}

interface Reading {
  readonly names: Names
  readonly drafts: Draft[]
  readonly prompts: Map<string, Prompt>
  readonly questions: Map<string, Event<'QuestionAsked'>>
  /** Keyed by the ids of execution and tool call: the section with the call's row, the row's index in the section, and when the call started. */
  readonly tools: Map<string, { readonly draft: Draft; readonly at: number; readonly startedAt: string }>
  agent: string
  preparing: { readonly draft: Draft; readonly at: number; readonly since: string } | null
  /** How many commits the branch was ahead of the base in the last `WorkspaceChanged`. */
  ahead: number
  /** How many commits tool calls have reported since the last `WorkspaceChanged`. */
  commitsReported: number
  /** The last changes that were recorded while no agent was writing. */
  changes: Changes | null
}

/** The sections for a task's events, in order. */
export function timelineOf(events: readonly TaskEventMessage[], names: Names): readonly TimelineSection[] {
  const reading: Reading = {
    names,
    drafts: [],
    prompts: new Map(),
    questions: new Map(),
    tools: new Map(),
    agent: '',
    preparing: null,
    ahead: 0,
    commitsReported: 0,
    changes: null,
  }
  for (const event of events) read(reading, event)
  return reading.drafts.map(({ section, rows }) => ({ ...section, rows }))
}

/** The section as it was known at a revision of the task's stream. The rows are not changed: apply `rowAt` to each of them. */
export function sectionAt(section: TimelineSection, revision: number): TimelineSection {
  if (section.knownAt <= revision) return section
  const outcome = section.startedAt <= revision ? 'running' : 'queued'
  return { ...section, outcome, durationMs: null, costUsd: 0 }
}

function read(reading: Reading, event: TaskEventMessage): void {
  switch (event.type) {
    case 'TaskCreated':
      reading.agent = event.data.agent
      break
    case 'MessageQueued':
    case 'MessageEdited':
      addPrompt(reading, event)
      break
    case 'ExecutionRequested':
      begin(reading, event)
      break
    case 'ToolStarted':
      return startTool(reading, event)
    case 'ToolFinished':
      return endTool(reading, event)
    case 'UsageRecorded':
      return addCost(reading, event)
    case 'WorkspacePrepared':
      return endPreparing(reading, event)
    case 'WorkspaceChanged':
      addCommits(reading, event)
      return addChanges(reading, event)
    case 'QuestionAsked':
      reading.questions.set(event.data.questionId, event)
      return addRow(reading, event, questionRow(event, reading.agent, event))
    case 'AgentModeChosen':
      return addRow(reading, event, questionRow(event, reading.agent, undefined))
    case 'QuestionAnswered':
    case 'AnswerDelivered':
    case 'QuestionWithdrawn': {
      const asked = reading.questions.get(event.data.questionId)
      return addRow(reading, event, questionRow(event, reading.agent, asked))
    }
    case 'AgentStarted':
      reading.agent = event.data.agent
      break
    case 'ExecutionStarted':
      start(reading, event)
      break
    case 'ExecutionCompleted':
    case 'ExecutionFailed':
    case 'ExecutionCancelled':
      end(reading, event)
      break
    default:
      break
  }
  const row = rowOf(event, reading.names, {
    agent: reading.agent,
    kind: current(reading)?.section.kind ?? 'turn',
  })
  addRow(reading, event, row)
}

function addRow(reading: Reading, event: TaskEventMessage, row: TimelineRow | null): void {
  if (row === null) return
  const draft = current(reading) ?? open(reading, event)
  draft.rows.push(row)
  if (event.type === 'WorkspacePreparing')
    reading.preparing = { draft, at: draft.rows.length - 1, since: event.at }
}

type Event<Type extends TaskEventMessage['type']> = Extract<TaskEventMessage, { type: Type }>

function current({ drafts }: Reading): Draft | undefined {
  return drafts.at(-1)
}

/** Opens a section for the events before the first execution. The first execution becomes part of this section. */
function open(reading: Reading, { revision, at }: TaskEventMessage): Draft {
  const section = { executionId: '', number: 1, kind: 'turn', prompt: '', revision, at } as const
  const draft: Draft = {
    section: { ...section, outcome: 'queued', ...unknownYet },
    rows: [],
    startedAt: null,
  }
  reading.drafts.push(draft)
  return draft
}

function addPrompt({ prompts }: Reading, event: Event<'MessageQueued' | 'MessageEdited'>): void {
  const { messageId } = event.data
  const queued = event.type === 'MessageQueued' ? null : prompts.get(messageId)
  const isCommand =
    event.type === 'MessageQueued' ? event.data.kind === 'command' : queued?.isCommand === true
  const message = event.content?.message ?? ''
  const text = isCommand ? message : plainText(message)
  prompts.set(messageId, { text, isCommand, revision: queued?.revision ?? event.revision })
}

function begin(reading: Reading, event: Event<'ExecutionRequested'>): void {
  const { executionId, kind, messageId, agent } = event.data
  reading.agent = agent
  const before = current(reading)
  const isFirst = before?.section.executionId === ''
  const prompt = reading.prompts.get(messageId) ?? { text: '', isCommand: false, revision: -1 }
  // The row of a person's message right before the execution belongs to the execution's section.
  const asked = isFirst ? [] : (before?.rows.splice(rowsBefore(before.rows, event.revision)) ?? [])
  const first = isFirst ? before.section : (asked[0] ?? event)
  const rows = isFirst ? before.rows : asked
  const draft: Draft = {
    section: {
      executionId,
      number: isFirst ? 1 : reading.drafts.length + 1,
      kind,
      prompt: prompt.text,
      revision: first.revision,
      at: first.at,
      outcome: 'queued',
      ...unknownYet,
    },
    // The row of the prompt gets no detail, because the section's heading already shows the prompt.
    rows: rows.map((row) => (row.revision === prompt.revision ? { ...row, detail: '' } : row)),
    startedAt: null,
  }
  if (isFirst) reading.drafts[0] = draft
  else reading.drafts.push(draft)
}

/** The index of the last row, if it is a message from right before the revision; otherwise the number of rows. */
function rowsBefore(rows: readonly TimelineRow[], revision: number): number {
  const last = rows.at(-1)
  return last?.kind === 'message' && revision - last.revision <= 2 ? rows.length - 1 : rows.length
}

function draftOf({ drafts }: Reading, executionId: string): Draft | undefined {
  return drafts.findLast(({ section }) => section.executionId === executionId)
}

function start(reading: Reading, { data, at, revision }: Event<'ExecutionStarted'>): void {
  const draft = draftOf(reading, data.executionId)
  if (!draft) return
  draft.startedAt ??= at
  const startedAt = Math.min(draft.section.startedAt, revision)
  draft.section = { ...draft.section, outcome: 'running', startedAt }
}

function end(
  reading: Reading,
  event: Event<'ExecutionCompleted' | 'ExecutionFailed' | 'ExecutionCancelled'>,
): void {
  const draft = draftOf(reading, event.data.executionId)
  if (!draft) return
  const outcome = outcomeOf(event, draft.section.kind === 'command')
  const durationMs = draft.startedAt === null ? null : Date.parse(event.at) - Date.parse(draft.startedAt)
  const knownAt = event.revision
  draft.section = { ...draft.section, outcome, durationMs, knownAt }
  // Steps that were still running end with the execution.
  draft.rows = draft.rows.map((row) =>
    row.outcome === 'running' ? { ...row, outcome: 'cancelled', knownAt } : row,
  )
}

function startTool(reading: Reading, event: Event<'ToolStarted'>): void {
  const draft = current(reading) ?? open(reading, event)
  const row = toolRow(event, reading.agent)
  const last = draft.rows.at(-1)
  const grouped = last && groupWith(last, row)
  if (grouped) draft.rows[draft.rows.length - 1] = grouped
  else draft.rows.push(row)
  const key = `${event.data.executionId}:${event.data.toolId}`
  reading.tools.set(key, { draft, at: draft.rows.length - 1, startedAt: event.at })
}

function endTool(reading: Reading, event: Event<'ToolFinished'>): void {
  const tool = reading.tools.get(`${event.data.executionId}:${event.data.toolId}`)
  const row = tool?.draft.rows[tool.at]
  if (!tool || !row) return
  tool.draft.rows[tool.at] = withToolEnd(row, event)
  if (row.kind !== 'command' || !event.data.ok) return
  for (const commit of commitsIn(row.targets[0] ?? '', event.content?.output ?? '')) {
    reading.commitsReported += 1
    const sentence = `Commit ${commit.id} “${commit.subject}”`
    tool.draft.rows.push({ ...plainRow(event), kind: 'commit', sentence, begun: sentence, who: row.who })
  }
}

/** Adds the cost to the section and to the agent's latest row, because usage is recorded right after the work that caused it. */
function addCost(reading: Reading, { data, revision }: Event<'UsageRecorded'>): void {
  const draft = draftOf(reading, data.executionId)
  if (!draft) return
  const { costUsd, knownAt } = draft.section
  draft.section = {
    ...draft.section,
    costUsd: costUsd + data.costUsd,
    knownAt: Math.max(knownAt, revision),
  }
  const at = draft.rows.findLastIndex(({ who }) => typeof who === 'object')
  const row = draft.rows[at]
  if (row) draft.rows[at] = { ...row, costUsd: row.costUsd + data.costUsd, costAt: revision }
}

function endPreparing(reading: Reading, event: Event<'WorkspacePrepared'>): void {
  const { preparing, names } = reading
  const row = preparing?.draft.rows[preparing.at]
  if (!preparing || !row) return
  reading.preparing = null
  const commit = event.content?.baseCommit?.slice(0, 7)
  preparing.draft.rows[preparing.at] = {
    ...row,
    sentence: `Cloned ${names.repository || 'the repository'}${commit ? ` at ${commit}` : ''}`,
    detail: event.content ? `from ${event.content.baseBranch}` : '',
    until: event.revision,
    knownAt: event.revision,
    outcome: 'completed',
    durationMs: Date.parse(event.at) - Date.parse(preparing.since),
  }
}

/** Adds a row for new commits on the branch that no tool call reported. */
function addCommits(reading: Reading, event: Event<'WorkspaceChanged'>): void {
  const more = event.data.ahead - reading.ahead - reading.commitsReported
  reading.ahead = event.data.ahead
  reading.commitsReported = 0
  if (more <= 0) return
  const draft = current(reading) ?? open(reading, event)
  const sentence = more === 1 ? 'Made a commit' : `Made ${more} commits`
  draft.rows.push({
    ...plainRow(event),
    kind: 'commit',
    sentence,
    begun: sentence,
    who: { agent: reading.agent },
  })
}

function addChanges(reading: Reading, event: Changes): void {
  const row = changesRow(event, reading.changes)
  if (event.content?.tree !== null) reading.changes = event
  if (row === null) return
  const draft = current(reading) ?? open(reading, event)
  draft.rows.push(row)
}
