/** The rows of the timeline: their type, and the functions that all kinds of rows share. */
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { EndStatus } from '../task/phase.ts'
import type { OutputItem } from './item.ts'

/** The subject of a row, which selects the icon of the row and the filters that match it. */
export type RowKind =
  | 'task'
  | 'message'
  | 'answer'
  | 'setup'
  | 'read'
  | 'edit'
  | 'command'
  | 'search'
  | 'fetch'
  | 'plan'
  | 'tool'
  | 'changes'
  | 'commit'
  | 'pull_request'
  | 'turn'
  | 'question'

/** Who caused a row: a person, the server (`runner`), the code host, or an agent by its name. */
export type Who = 'person' | 'runner' | 'code_host' | { readonly agent: string }

export interface TimelineRow {
  /** The revision, in the task's stream, of the row's first event. */
  readonly revision: number
  /** The revision of the last event that the row covers. */
  readonly until: number
  /** When the row's first event was recorded, ISO 8601. */
  readonly at: string
  readonly kind: RowKind
  readonly sentence: string
  /** Further text: an excerpt or a result. */
  readonly detail: string
  readonly who: Who
  /** `null` for a row about something that cannot fail. */
  readonly outcome: 'running' | EndStatus | null
  readonly durationMs: number | null
  readonly costUsd: number
  /** The targets of the row's tool calls, such as paths of files; empty for other rows. */
  readonly targets: readonly string[]
  /** The revision at which outcome, detail and duration became known; `Infinity` until then. */
  readonly knownAt: number
  /** The revision of the last event that added to the row's cost. */
  readonly costAt: number
  /** The row's sentence while its outcome is unknown. */
  readonly begun: string
  /** The terminal's output between the beginning of this row and the beginning of the next row. */
  readonly output: readonly OutputPiece[]
}

/** A piece of output, and its index among the items of the history. */
export interface OutputPiece {
  readonly index: number
  readonly item: OutputItem
}

/** The default fields of a row for a single event. */
export function plainRow({ revision, at }: TaskEventMessage) {
  return {
    revision,
    until: revision,
    at,
    detail: '',
    outcome: null,
    durationMs: null,
    costUsd: 0,
    targets: [],
    knownAt: revision,
    costAt: revision,
    output: [],
  } as const
}

/** The row as it was known at a revision of the task's stream: without outcome, detail, duration and cost that became known later. */
export function rowAt(row: TimelineRow, revision: number): TimelineRow {
  if (row.knownAt > revision) {
    const outcome = row.revision > revision ? null : 'running'
    return { ...row, sentence: row.begun, detail: '', outcome, durationMs: null, costUsd: 0 }
  }
  return row.costAt > revision ? { ...row, costUsd: 0 } : row
}

/** The exit code in words, such as `failed, exit 1`; `''` when there is no exit code. */
export function exitWords(exitCode: number | null): string {
  return exitCode === null ? '' : `failed, exit ${exitCode}`
}
