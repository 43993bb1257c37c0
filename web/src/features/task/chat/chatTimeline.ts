/**
 * The entries of the chat, in log order: messages, and turns with what the agent did and said. A message waits below the chat until its turn begins,
 * and then it heads that turn. Pure.
 */
import { isRecordDamaged } from '../../tasks/taskStatus.ts'
import { byPlaceInQueue, type MessageDocument } from '#domain/views/chat.ts'
import { growingThought, type LogDocument } from '#domain/views/commandLog.ts'
import type { QuestionDocument } from '#domain/views/questions.ts'
import type { Task } from '#domain/api/tasks.schema.ts'
import type { AgentName } from '#domain/agents.ts'
import type { SentMessage } from '../taskSlice.ts'
import { nested, sameTools } from './nestedTools.ts'
import type { WrittenMessage } from './streamingText.ts'
import type { TurnPart } from './turnParts.ts'

export interface MessageEntry {
  readonly kind: 'message'
  readonly key: string
  readonly at: string
  readonly message: MessageDocument
  /**
   * Whether the head is left out: the message was not edited, and the previous one has the same type, agent and status and is less than five minutes
   * older.
   */
  readonly grouped: boolean
}

export interface TurnEntry {
  readonly kind: 'turn'
  readonly key: string
  readonly at: string
  readonly agent: AgentName
  readonly status: MessageDocument['status']
  /** Whether the turn is running, so that its steps are not collapsed. */
  readonly live: boolean
  readonly parts: readonly TurnPart[]
  /** Whether the turn may have begun with tool calls that are not loaded. */
  readonly partial: boolean
}

interface SentEntry {
  readonly kind: 'sent'
  readonly key: string
  readonly at: string
  readonly sent: SentMessage
}

export type ChatEntry = MessageEntry | TurnEntry | SentEntry

interface ChatTimeline {
  readonly entries: readonly ChatEntry[]
  /** Messages that wait for their turn, in order of delivery. */
  readonly queue: readonly MessageDocument[]
}

export interface ChatMaterial {
  readonly task: Task
  readonly messages: readonly MessageDocument[]
  readonly logs: readonly LogDocument[]
  /** The questions that were asked after the oldest loaded message. */
  readonly questions?: readonly QuestionDocument[]
  readonly moreLogs?: boolean
  readonly writing: readonly WrittenMessage[]
  readonly sent: readonly SentMessage[]
}

/** Two similar messages in a row share a head if fewer than this many milliseconds lie between them (contract, section 9). */
const groupingPeriodMs = 5 * 60_000
/** A string that sorts after every position. */
const last = '~'

export function chatTimeline(material: ChatMaterial): ChatTimeline {
  const {
    task,
    messages,
    logs,
    questions = [],
    moreLogs,
    writing,
    sent,
  } = isRecordDamaged(material.task) ? asEnded(material) : material
  const visible = messages.filter(({ isVisible }) => isVisible)
  const running = runningExecution(task)
  const parts = { logs, questions, moreLogs: moreLogs ?? false, writing }
  const turns = turnsOf({ task, messages: visible, ...parts, running })
  const waiting = visible.filter(isWaiting).toSorted(byPlaceInQueue)
  // A requested turn will begin with the first waiting message.
  const beginning = task.status === 'queued' ? waiting.at(0) : undefined
  const queue = waiting.filter((message) => message !== beginning)

  const ordered = [
    ...visible
      .filter((message) => !isPart(message) && !queue.includes(message))
      .map((message) => ({
        order: placeOf(message, turns, running, beginning),
        entry: {
          kind: 'message',
          key: message.id,
          at: message.createdAt,
          message,
          grouped: false,
        } satisfies MessageEntry,
      })),
    ...[...turns.values()].map(({ order, entry }) => ({ order: placeIn(order, '1'), entry })),
  ].toSorted(byOrder)
  const entries: ChatEntry[] = ordered.map(({ entry }) => entry)
  for (const each of sent) entries.push({ kind: 'sent', key: each.id, at: each.sentAt, sent: each })
  return { entries: grouped(entries), queue }
}

/** The material of a damaged task. Nobody knows how its work went on: what is queued or running shows as `cancelled`, open questions as withdrawn. */
function asEnded(material: ChatMaterial): ChatMaterial {
  const over = <Status extends string>(status: Status) =>
    status === 'queued' || status === 'running' ? ('cancelled' as const) : status
  return {
    ...material,
    task: { ...material.task, status: 'failed' },
    messages: material.messages.map((message) => ({
      ...message,
      status: over(message.status),
      commandStatus: over(message.commandStatus),
    })),
    logs: material.logs.map((log) => ({ ...log, status: over(log.status) })),
    questions: (material.questions ?? []).map((question) =>
      question.status === 'open' ? { ...question, status: 'withdrawn' } : question,
    ),
    writing: [],
  }
}

/** The entries without the reason why the last turn failed, which is shown below the entries with a retry button. */
export function withoutReason(entries: readonly ChatEntry[], reason: string): readonly ChatEntry[] {
  const latest = entries.at(-1)
  if (latest?.kind !== 'turn') return entries
  const parts = latest.parts.filter(
    (part) => part.kind !== 'text' || part.message.messageType !== 'error' || part.message.message !== reason,
  )
  return parts.length === latest.parts.length ? entries : [...entries.slice(0, -1), { ...latest, parts }]
}

function runningExecution(task: Task): string | null {
  if (task.status !== 'running' && task.status !== 'queued') return null
  return task.execution === null || task.execution.endedAt !== null ? null : task.execution.id
}

interface Turn {
  readonly order: string
  readonly first: string
  readonly entry: TurnEntry
}

function turnsOf(
  material: Omit<ChatMaterial, 'sent'> & { readonly running: string | null },
): ReadonlyMap<string, Turn> {
  const { task, messages, logs, questions = [], moreLogs, writing, running } = material
  const completed = new Set(messages.map(({ messageId }) => messageId))
  const parts = new Map<string, TurnPart[]>()
  const add = (executionId: string, part: TurnPart) => {
    const list = parts.get(executionId)
    if (list === undefined) parts.set(executionId, [part])
    else list.push(part)
  }
  for (const message of messages) {
    if (isPart(message) && message.executionId !== null) {
      add(message.executionId, { kind: 'text', key: message.messageId, order: message.order, message })
    }
  }
  for (const log of logs)
    // A command that a person ran is already shown as a message.
    if (!log.messageId && log.executionId !== null)
      add(log.executionId, { kind: 'tool', key: log.id, order: log.order, log })
  for (const question of questions)
    add(question.executionId, { kind: 'question', key: question.id, order: question.order, question })
  for (const each of writing) {
    const { executionId, thought, order } = each
    if (thought !== undefined) {
      const text = `${thought.begins > 0 ? '… ' : ''}${each.text}`
      const log = growingThought(task, { ...each, text })
      // The complete thought replaces the thought that is being written.
      const isGrowing = executionId === running && !logs.some(({ id }) => id === log.id)
      if (isGrowing) add(executionId, { kind: 'tool', key: log.id, order, log })
      continue
    }
    // The complete message replaces the text being written.
    if (!completed.has(each.messageId))
      add(each.executionId, { kind: 'writing', key: each.messageId, order: each.order, writing: each })
  }
  if (running !== null && task.execution?.kind === 'turn' && !parts.has(running)) parts.set(running, [])

  const begunBy = new Map(
    messages.flatMap((message) =>
      isPersons(message) && message.executionId !== null && !message.isSteering
        ? [[message.executionId, message]]
        : [],
    ),
  )
  const inOrder = [...parts]
    .map(([executionId, unordered]) => ({ executionId, ordered: unordered.toSorted(byOrder) }))
    .map((turn) => ({ ...turn, order: turn.ordered[0]?.order ?? last, begun: begunBy.get(turn.executionId) }))
    .toSorted(byOrder)
  const { firstOf, givenUp } = attemptsIn(inOrder)
  // `oldest` is the oldest loaded tool call. The turn of this call may have earlier calls that are not loaded.
  const oldest = logs.reduce<LogDocument | null>((a, b) => (a === null || b.order < a.order ? b : a), null)
  return new Map(
    inOrder.map(({ executionId, ordered, order, begun }) => {
      const live = executionId === running
      const entry: TurnEntry = {
        kind: 'turn',
        key: executionId,
        at:
          startOf(ordered[0]) ??
          (live ? (task.execution?.startedAt ?? task.execution?.requestedAt) : begun?.updatedAt) ??
          task.updatedAt,
        agent: agentOf(ordered) ?? begun?.agent ?? task.agent,
        status: live
          ? 'running'
          : (begun?.status ?? (givenUp.has(executionId) ? endOf(ordered) : 'completed')),
        live,
        parts: nested(ordered),
        partial: moreLogs === true && oldest?.executionId === executionId,
      }
      return [executionId, { order, first: firstOf.get(executionId) ?? order, entry }]
    }),
  )
}

interface Attempt {
  readonly executionId: string
  readonly order: string
  readonly begun: MessageDocument | undefined
}

/**
 * Finds attempts that were given up. A message names only the last turn that worked on it, so the unnamed turns between the two are earlier attempts.
 * The message is placed above the first attempt.
 */
function attemptsIn(turns: readonly Attempt[]) {
  const firstOf = new Map<string, string>()
  const givenUp = new Set<string>()
  let unnamed: Attempt[] = []
  for (const turn of turns) {
    const { begun } = turn
    if (begun === undefined) {
      unnamed.push(turn)
      continue
    }
    const attempts = unnamed.filter(({ order }) => order > begun.order)
    for (const { executionId } of attempts) givenUp.add(executionId)
    firstOf.set(turn.executionId, attempts[0]?.order ?? turn.order)
    unnamed = []
  }
  return { firstOf, givenUp }
}

/** The outcome of an attempt that was retried: it failed with a reason, or was stopped. */
function endOf(parts: readonly TurnPart[]): 'failed' | 'cancelled' {
  return parts.some((part) => part.kind === 'text' && part.message.messageType === 'error')
    ? 'failed'
    : 'cancelled'
}

function agentOf(parts: readonly TurnPart[]): AgentName | null {
  return parts.flatMap((part) => (part.kind === 'text' ? (part.message.agent ?? []) : []))[0] ?? null
}

function startOf(part: TurnPart | undefined): string | null {
  if (part?.kind === 'text') return part.message.createdAt
  if (part?.kind === 'question') return part.question.askedAt
  return part?.kind === 'tool' ? part.log.timestamp : null
}

/** Whether a person wrote the message or the command. */
export function isPersons({ messageType }: MessageDocument): boolean {
  return messageType === 'user' || messageType === 'command'
}

/** Whether the message is part of a turn: an agent wrote it, or it is about the agent's turn. */
function isPart(message: MessageDocument): boolean {
  return !isPersons(message) && message.executionId !== null
}

function isWaiting(message: MessageDocument): boolean {
  return isPersons(message) && message.status === 'queued' && message.executionId === null
}

/** The sort key of an entry: the place of its turn, its rank in the turn, and its own order. The separator sorts before any text. */
function placeIn(turn: string, rank: '0' | '1', own = ''): string {
  return [turn, rank, own].join('\0')
}

function placeOf(
  message: MessageDocument,
  turns: ReadonlyMap<string, Turn>,
  running: string | null,
  beginning: MessageDocument | undefined,
): string {
  const turn = isPersons(message) && message.executionId !== null ? turns.get(message.executionId) : undefined
  if (turn !== undefined) return placeIn(turn.first, '0', message.order)
  const isBeginning =
    message === beginning ||
    (isPersons(message) && message.executionId !== null && message.executionId === running)
  return placeIn(isBeginning ? last : message.order, '0', message.order)
}

function byOrder(a: { readonly order: string }, b: { readonly order: string }): number {
  return a.order === b.order ? 0 : a.order < b.order ? -1 : 1
}

function grouped(entries: readonly ChatEntry[]): readonly ChatEntry[] {
  return entries.map((entry, index) => {
    const before = entries[index - 1]
    if (entry.kind !== 'message' || before?.kind !== 'message') return entry
    const [a, b] = [before.message, entry.message]
    const same =
      a.messageType === b.messageType && a.agent === b.agent && a.status === b.status && !b.isEdited
    return { ...entry, grouped: same && Date.parse(entry.at) - Date.parse(before.at) < groupingPeriodMs }
  })
}

/** Whether two parts look the same because they show the same document. */
export function samePart(a: TurnPart, b: TurnPart | undefined): boolean {
  if (a.kind === 'text' && b?.kind === 'text') return a.message === b.message
  if (a.kind === 'tool' && b?.kind === 'tool') return sameTools(a, b)
  if (a.kind === 'question' && b?.kind === 'question') return a.question === b.question
  if (a.kind === 'writing' && b?.kind === 'writing') return a.writing === b.writing
  return false
}

/** The verb and the noun for the steps of each kind; the plural is the noun with an s, unless `plural` is given. */
const phrases: Readonly<
  Partial<Record<LogDocument['kind'], readonly [verb: string, noun: string, plural?: string]>>
> = {
  read: ['read ', 'file'],
  edit: ['edited ', 'file'],
  run: ['ran ', 'command'],
  search: ['', 'search', 'searches'],
  fetch: ['fetched ', 'page'],
  todo: ['', 'plan update'],
  other: ['', 'other', 'other'],
  thinking: ['', 'thought'],
}

/** A summary of a turn's tool calls in words: `read 3 files, edited 2, ran 3 commands`. */
export function summaryOf(logs: readonly LogDocument[]): string {
  return Object.entries(phrases)
    .flatMap(([kind, [verb, noun, plural = `${noun}s`]]) => {
      const count = logs.filter((log) => log.kind === kind).length
      if (count === 0) return []
      const isShort = kind === 'edit' && logs.some((log) => log.kind === 'read')
      return [`${verb}${count}${isShort ? '' : ` ${count === 1 ? noun : plural}`}`]
    })
    .join(', ')
}

/** The time from the start of the first step to the end of the last one, in milliseconds. */
export function spanOf(logs: readonly LogDocument[]): number {
  const starts = logs.map(({ timestamp }) => Date.parse(timestamp))
  const ends = logs.map(({ timestamp, durationMs }) => Date.parse(timestamp) + (durationMs ?? 0))
  return logs.length === 0 ? 0 : Math.max(...ends) - Math.min(...starts)
}

export function matchingEntries(entries: readonly ChatEntry[], words: string): readonly ChatEntry[] {
  if (words.trim() === '') return entries
  const isMatch = hasWords(words)
  return entries.flatMap((entry): readonly ChatEntry[] => {
    switch (entry.kind) {
      case 'message':
        return matches(entry.message, isMatch) ? [{ ...entry, grouped: false }] : []
      case 'turn': {
        const parts = entry.parts.filter(
          (part) =>
            (part.kind === 'text' && isMatch(part.message.message)) ||
            (part.kind === 'question' && isMatch(part.question.title)),
        )
        return parts.length === 0 ? [] : [{ ...entry, parts }]
      }
      case 'sent':
        return isMatch(entry.sent.text) ? [entry] : []
    }
  })
}

export function matchingQueue(queue: readonly MessageDocument[], words: string): readonly MessageDocument[] {
  const isMatch = hasWords(words)
  return queue.filter((message) => matches(message, isMatch))
}

function hasWords(words: string): (text: string | null) => boolean {
  const needle = words.trim().toLowerCase()
  return (text) => text?.toLowerCase().includes(needle) ?? false
}

function matches(
  { message, commandText }: MessageDocument,
  isMatch: (text: string | null) => boolean,
): boolean {
  return isMatch(message) || isMatch(commandText)
}

/** The number of matches of a search: each message, and each part of a turn, counts once. */
export function countMatches(entries: readonly ChatEntry[]): number {
  return entries.reduce((count, entry) => count + (entry.kind === 'turn' ? entry.parts.length : 1), 0)
}
