/** Reads from the log what a viewer missed while it was disconnected. */
import type { ResumeCursor } from '#domain/api/socket.schema.ts'
import { comparePositions, type Position } from '#domain/kernel/event.ts'
import { taskStream, terminalStream } from '#domain/kernel/streams.ts'
import type { AddressOf } from '#domain/views/images.ts'
import type { TaskDocument } from '#domain/views/tasks.ts'
import type { AnyRecorded } from '#domain/views/view.ts'
import type { EventLog } from '#platform/eventlog/eventLog.ts'
import type { Documents } from '#platform/reads/documents.ts'
import { contextOf } from './eventContext.ts'
import { socketMessagesOf, statusOf, type SocketMessage } from './socketMessages.ts'

/** Most viewers missed only a few events, so the pages that are read grow from few events to many. */
const [firstPage, largestPage] = [32, 512]
/**
 * The messages of all missed events are sent at once, so they must fit into the buffer of a socket. One event becomes at most four messages, which
 * contain its text at most twice.
 */
export const replayLimits = { events: 1_000, characters: 4 * 1_048_576 }

/** Missed events, and the number of characters in their contents. */
export interface Missed {
  readonly events: readonly AnyRecorded[]
  readonly characters: number
}

/**
 * The events after `last` and up to `upTo` of the task's stream and its terminal's stream, ordered by position; `undefined` when they exceed
 * `replayLimits`.
 */
export async function missedEvents(
  log: Pick<EventLog, 'readBackwards'>,
  taskId: string,
  last: ResumeCursor,
  upTo: Position | null,
): Promise<Missed | undefined> {
  const events: AnyRecorded[] = []
  let characters = 0
  for (const stream of [taskStream(taskId), terminalStream(taskId)]) {
    let from: number | 'end' = 'end'
    reading: for (let limit = firstPage; ; limit = Math.min(limit * 4, largestPage)) {
      const found = await log.readBackwards(stream, from, limit, upTo ?? undefined)
      for (const event of found) {
        if (receivedOf(event.position, last) === Infinity) break reading
        // Events after `upTo` arrive through the subscription.
        if (!isCovered(event.position, upTo)) continue
        events.push(event)
        characters += charactersOf(event)
        if (events.length > replayLimits.events || characters > replayLimits.characters) return undefined
      }
      const oldest = found.at(-1)
      if (!oldest || oldest.revision === 0) break
      from = oldest.revision - 1
    }
  }
  return { events: events.sort((a, b) => comparePositions(a.position, b.position)), characters }
}

/** The messages for missed events. The statuses in between are unknown, so the latest one is sent with the last event of the task. */
export async function missedMessages(
  { documents, addressOf }: { readonly documents: Documents; readonly addressOf: AddressOf },
  taskId: string,
  task: TaskDocument | undefined,
  events: readonly AnyRecorded[],
  last: ResumeCursor | null,
): Promise<readonly SocketMessage[]> {
  const lastOfTask = events.findLast((event) => event.stream === taskStream(taskId))
  const messages: SocketMessage[] = []
  for (const event of events) {
    const context = await contextOf(documents, event, task, taskId)
    const ofEvent = socketMessagesOf(event, { before: task, after: task, ...context }, addressOf)
    // `task_status_changed` comes last among the messages of an event, as it does live. A cursor counts these messages, so their order must be the
    // same.
    if (event === lastOfTask && task) ofEvent.push(['task_status_changed', statusOf(event, task)])
    messages.push(...ofEvent.slice(receivedOf(event.position, last)))
  }
  return messages
}

/** How many of the messages about the event at `position` the viewer has received; `Infinity` for all of them. */
export function receivedOf(position: Position, last: ResumeCursor | null): number {
  if (last === null) return 0
  const whole = typeof last === 'string'
  const order = comparePositions(position, whole ? last : last.position)
  if (order > 0) return 0
  return order < 0 || whole ? Infinity : last.messages
}

/** Whether `position` is at or before `by`; `false` when `by` is `null`. */
export function isCovered(position: Position, by: Position | null): boolean {
  return by !== null && comparePositions(position, by) <= 0
}

/** The number of characters of an event that count towards the limits. */
export function charactersOf({ content }: AnyRecorded): number {
  return JSON.stringify(content).length
}
