/** The command log of a task: one document a tool call. */
import type { LogEntry } from '../api/chat.ts'
import { sortKey } from '../kernel/event.ts'
import { parseTask } from './chat.ts'
import type { View } from './view.ts'

export interface LogDocument extends LogEntry {
  /** The position as it sorts. */
  readonly order: string
}

export const logView: View<LogDocument> = {
  collection: 'logs',
  indexes: [['task', 'order']],
  touches: (event) =>
    event.type === 'ToolStarted' || event.type === 'ToolFinished'
      ? [`${event.data.executionId}:${event.data.toolId}`]
      : [],
  goneWith: (event) =>
    event.type === 'TaskDeleted' ? { field: 'task', value: parseTask(event.stream) } : undefined,
  evolve: (entry, event, id) => {
    switch (event.type) {
      case 'ToolStarted':
        return {
          id,
          task: parseTask(event.stream),
          executionId: event.data.executionId,
          kind: event.data.kind,
          name: event.content?.name ?? null,
          target: event.content?.target ?? null,
          input: event.content?.input ?? null,
          status: 'running',
          exitCode: null,
          durationMs: null,
          additions: null,
          deletions: null,
          summary: null,
          output: null,
          timestamp: event.at,
          order: sortKey(event.position),
          position: event.position,
          version: event.revision,
        }
      case 'ToolFinished': {
        if (entry === undefined) return undefined
        const { ok, exitCode, durationMs, additions, deletions } = event.data
        const outcome = {
          exitCode,
          durationMs,
          additions,
          deletions,
          status: ok ? 'completed' : 'failed',
        } as const
        return {
          ...entry,
          ...outcome,
          ...(event.content ?? { summary: null, output: null }),
          version: event.revision,
        }
      }
      default:
        return entry
    }
  },
}

/** What the API shows of a log document. */
export function logEntryOf(document: LogDocument): LogEntry {
  const { order: _order, ...shown } = document
  return shown
}
