/** Reads a page of a task's history from the log. */
import { setImmediate as otherWork } from 'node:timers/promises'
import type { UnreadableReason } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import {
  terminalItemOf,
  type HistoryItem,
  type TaskEventItem,
  type TerminalItem,
} from '#domain/history/item.ts'
import { joined } from '#domain/history/joined.ts'
import { merged } from '#domain/history/order.ts'
import { taskEvents } from '#domain/task/events.ts'
import type { TaskEventMessage } from '#domain/api/socket.schema.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import { UnreadableEvent, type EventLog } from '#platform/eventlog/eventLog.ts'

/** At most this many events are decrypted in one go. Other requests get their turn in between. */
const maxAtOnce = 250
/** All texts of a page together have at most this many UTF-16 code units, but a page has at least one event, however long it is. */
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

/** The same page with its pieces joined. */
export function joinedPage(page: HistoryPage) {
  return { ...page, items: [], joined: joined(page.items) }
}

type Log = Pick<EventLog, 'read' | 'headOf'>

/** A page of the events in the task's two streams after a cursor, merged into one order. */
export async function historyPage(
  log: Log,
  taskId: string,
  { after, limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<HistoryPage> {
  const [taskFrom = 0, terminalFrom = 0] = (after ?? '0.0').split('.').map(Number)
  const half = Math.ceil(limit / 2)
  // The terminal is read first. Each of its events follows an event of the task, which is then already in the log when the task's stream is read.
  const terminal = await readable(log, terminalStream(taskId), terminalFrom, half, terminalItemsOf)
  // If the terminal has more events than were read, the task's events after the last one that a read event follows are left for the next page.
  const followed =
    terminal.known < Infinity
      ? terminal.items.reduce((last, item) => Math.max(last, item.follows), 0)
      : Infinity
  const wanted = Math.min(half, followed - taskFrom + 1)
  const task = await readable(log, taskStream(taskId), taskFrom, wanted, taskItemsOf)
  const items = firstOf(merged(task.items, knownFollowers(terminal.items, task.known)), limit)
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
  const read = task.read + terminal.read
  return {
    items,
    next: `${shown.task}.${shown.terminal}`,
    more: items.length < read || task.known < Infinity || terminal.known < Infinity,
    total: heads.reduce((sum, { revision }) => sum + revision + 1, 0),
    missing,
  }
}

interface Read<Item> {
  readonly items: readonly Item[]
  /** The number of events from which the items were made. */
  readonly read: number
  /** The last revision that was read; `Infinity` if the stream has no more events that can be read. */
  readonly known: number
  /** Why the next event of the stream cannot be read; `null` if it can, or if there is none. */
  readonly flaw: Omit<Missing, 'stream'> | null
}

/** The items of a stream's events from `from` on, up to the first unreadable event, and not many more than fit on a page. */
async function readable<Item extends HistoryItem>(
  log: Log,
  stream: string,
  from: number,
  limit: number,
  itemsOf: (event: AnyRecorded) => readonly Item[],
): Promise<Read<Item>> {
  const items: Item[] = []
  let flaw: Read<Item>['flaw'] = null
  let read = 0
  let characters = 0
  let most = limit
  while (read < most && characters <= maxCharacters) {
    const atOnce = Math.min(maxAtOnce, most - read)
    try {
      const events = await log.read(stream, from + read, atOnce)
      for (const event of events)
        for (const item of itemsOf(event)) {
          items.push(item)
          characters += charactersOf(item)
        }
      read += events.length
      if (events.length < atOnce) most = read
      await otherWork()
    } catch (fault) {
      if (!(fault instanceof UnreadableEvent)) throw fault
      const { revision } = fault.event
      flaw = { revision, reason: fault.reason }
      most = Math.min(read + atOnce - 1, revision - from)
    }
  }
  const hasMore = read < most || (flaw === null && read === limit)
  return { items, read, known: hasMore ? from + read - 1 : Infinity, flaw }
}

function taskItemsOf(event: AnyRecorded): readonly TaskEventItem[] {
  return isTaskEvent(event) ? [{ kind: 'event', event }] : []
}

function terminalItemsOf(event: AnyRecorded): readonly TerminalItem[] {
  return event.type === 'TerminalOutputRecorded' ||
    event.type === 'ShellOutputRecorded' ||
    event.type === 'MessageTextRecorded'
    ? [terminalItemOf(event)]
    : []
}

/**
 * The terminal's items whose events of the task were read. The first item that follows an unread event, and all after it, are left for the next page.
 */
function knownFollowers(items: readonly TerminalItem[], known: number): readonly TerminalItem[] {
  const unknown = items.findIndex(({ follows }) => follows > known)
  return unknown < 0 ? items : items.slice(0, unknown)
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
