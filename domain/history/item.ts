/** The items of a history: the events of a task and of its terminal, in the forms that viewers receive. */
import type { z } from 'zod'
import type * as schemas from '../api/history.schema.ts'
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { RecordedOf } from '../kernel/event.ts'
import type { TerminalEvent } from '../task/terminalEvents.ts'
import { messageDeltaOf, terminalOutputOf } from '../views/terminal.ts'

export interface TaskEventItem {
  readonly kind: 'event'
  readonly event: TaskEventMessage
}

export type OutputItem = Readonly<z.infer<(typeof schemas)['OutputItem']>>
export type DeltaItem = Readonly<z.infer<(typeof schemas)['DeltaItem']>>
export type TerminalItem = OutputItem | DeltaItem
export type HistoryItem = TaskEventItem | TerminalItem
/** An item with only the fields that decide its place in the history and its time. */
export type PlacedItem =
  | { readonly kind: 'event'; readonly event: Pick<TaskEventMessage, 'at' | 'revision'> }
  | TerminalItem

export function terminalItemOf(event: RecordedOf<TerminalEvent>): TerminalItem {
  const follows = event.meta.follows ?? 0
  const erased = event.content === null && event.meta.content !== null ? { erased: true as const } : {}
  if (event.type !== 'MessageTextRecorded')
    return { kind: 'output', follows, output: terminalOutputOf(event), ...erased }
  return {
    kind: 'delta',
    follows,
    delta: messageDeltaOf(event),
    at: event.at,
    begunAt: event.content?.begunAt ?? event.at,
    chunks: event.content?.chunks ?? [],
    ...erased,
  }
}

/** When the item was recorded, in the format of ISO 8601. */
export function recordedAt(item: PlacedItem): string {
  switch (item.kind) {
    case 'event':
      return item.event.at
    case 'output':
      return item.output.timestamp
    case 'delta':
      return item.at
  }
}

export function revisionOf(item: PlacedItem): number {
  switch (item.kind) {
    case 'event':
      return item.event.revision
    case 'output':
      return item.output.version
    case 'delta':
      return item.delta.version
  }
}

export function isErased(item: HistoryItem): boolean {
  if (item.kind !== 'event') return item.erased === true
  return item.event.content === null && item.event.meta.content !== null
}
