/** Reads a page of a task's history from the log. */
import type { UnreadableReason } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import {
  terminalItemOf,
  type HistoryItem,
  type TaskEventItem,
  type TerminalItem,
} from '#domain/history/item.ts'
import { merged } from '#domain/history/order.ts'
import { taskEvents } from '#domain/task/events.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'

/** The most UTF-16 code units of all texts in a page, which always has at least one event. */
const maxCharacters = 2_000_000

interface Missing {
  readonly stream: 'task' | 'terminal'
  readonly revision: number
  readonly reason: UnreadableReason
}

export interface HistoryPage {
  readonly items: HistoryItem[]
  readonly next: string
  readonly more: boolean
  readonly total: number
  readonly missing: Missing[]
}

type Log = Pick<EventLog, 'read' | 'headOf'>

/** A page of the events in the task's two streams after a cursor, merged into one order. */
export async function historyPage(
  log: Log,
  taskId: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<HistoryPage> {
  const [taskFrom = 0, terminalFrom = 0] = (after ?? '0.0').split('.').map(Number)
  // The terminal is read first. So the task's events that the terminal's events follow are already in the log when the task's stream is read.
  const terminal = await readable(log, terminalStream(taskId), terminalFrom, limit)
  const task = await readable(log, taskStream(taskId), taskFrom, limit)
  const items = firstOf(
    merged(
      task.events.filter(isTaskEvent).map((event): TaskEventItem => ({ kind: 'event', event })),
      knownFollowers(terminal.events, task, limit),
    ),
    limit,
  )
  const shown = { task: taskFrom, terminal: terminalFrom }
  for (const { kind } of items) shown[kind === 'event' ? 'task' : 'terminal'] += 1
  const heads = await Promise.all(
    [taskStream(taskId), terminalStream(taskId)].map((stream) =>
      log.headOf(stream).catch((fault: unknown) => {
        if (fault instanceof UnreadableEvent) return { revision: Math.max(fault.event.revision, 0) }
        throw fault
      }),
    ),
  )
  const missing = [
    ...(task.flaw ? [{ stream: 'task' as const, ...task.flaw }] : []),
    ...(terminal.flaw ? [{ stream: 'terminal' as const, ...terminal.flaw }] : []),
  ]
  const read = task.events.length + terminal.events.length
  return {
    items,
    next: `${shown.task}.${shown.terminal}`,
    more: items.length < read || task.events.length === limit || terminal.events.length === limit,
    total: heads.reduce((sum, { revision }) => sum + revision + 1, 0),
    missing,
  }
}

interface Read {
  readonly events: readonly AnyRecorded[]
  /** Why the next event of the stream cannot be read; `null` if it can. */
  readonly flaw: Omit<Missing, 'stream'> | null
}

/** The events of a stream from `from` on, up to the first unreadable event. */
async function readable(log: Log, stream: string, from: number, limit: number): Promise<Read> {
  let flaw: Read['flaw'] = null
  let readLimit = limit
  while (readLimit > 0) {
    try {
      return { events: await log.read(stream, from, readLimit), flaw }
    } catch (fault) {
      if (!(fault instanceof UnreadableEvent)) throw fault
      const { revision } = fault.event
      flaw = { revision, reason: fault.reason }
      readLimit = Math.min(readLimit - 1, revision - from)
    }
  }
  return { events: [], flaw }
}

/** Those of `events`, the terminal's events, that follow events of the task which `task` has. The other terminal events are for the next page. */
function knownFollowers(events: readonly AnyRecorded[], task: Read, limit: number): readonly TerminalItem[] {
  const last = task.events.length < limit ? Infinity : (task.events.at(-1)?.revision ?? Infinity)
  return events
    .flatMap((event) =>
      event.type === 'TerminalOutputRecorded' ||
      event.type === 'ShellOutputRecorded' ||
      event.type === 'MessageTextRecorded'
        ? [terminalItemOf(event)]
        : [],
    )
    .filter(({ follows }) => follows <= last)
}

function firstOf(items: readonly HistoryItem[], limit: number): HistoryItem[] {
  const page: HistoryItem[] = []
  let characters = 0
  for (const item of items) {
    characters += charactersOf(item)
    if (page.length === limit || (page.length > 0 && characters > maxCharacters)) break
    page.push(item)
  }
  return page
}

function charactersOf(item: HistoryItem): number {
  switch (item.kind) {
    case 'event':
      return JSON.stringify(item.event.content).length
    case 'output':
      return item.output.content.length
    case 'delta':
      return item.delta.text.length
  }
}

const typesOfTasks = new Set<string>(taskEvents.map(({ type }) => type))

function isTaskEvent(event: AnyRecorded): event is TaskEventMessage {
  return typesOfTasks.has(event.type)
}
