/** A row of the timeline. */
import type { TaskEventMessage } from '../api/socket.schema.ts'
import type { EndStatus } from '../task/phase.ts'
import type { OutputItem } from './item.ts'

/** What a row is about: it has an icon, and filters choose by it. */
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

/** A person, the agent by its name, the server's runner, or the code host. */
export type Who = 'person' | 'runner' | 'code_host' | { readonly agent: string }

export interface TimelineRow {
  /** The revision of its event in the task's stream. */
  readonly revision: number
  /** The revision of the last event that it tells of. */
  readonly until: number
  /** When it happened, ISO 8601. */
  readonly at: string
  readonly kind: RowKind
  readonly sentence: string
  /** More words about it: an excerpt, a result. */
  readonly detail: string
  readonly who: Who
  /** `null` where it has no end that could fail. */
  readonly outcome: 'running' | EndStatus | null
  readonly durationMs: number | null
  readonly costUsd: number
  /** How many of the same kind were put in one row, and what each was about. */
  readonly targets: readonly string[]
  /** The revision at which its outcome, detail and duration became known; `Infinity` while they are not. */
  readonly knownAt: number
  /** The revision of the last event that added to its cost. */
  readonly costAt: number
  /** The sentence before its outcome was known. */
  readonly begun: string
  /** What the terminal printed between its beginning and the next row. */
  readonly output: readonly OutputPiece[]
}

/** A piece of output, and its index among the items of the history. */
export interface OutputPiece {
  readonly index: number
  readonly item: OutputItem
}

/** What a row has that tells of one event, whose outcome is known with it. */
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

/** The row as far as it was known at a revision of the task's stream: nothing of what came later. */
export function rowAt(row: TimelineRow, revision: number): TimelineRow {
  if (row.knownAt > revision) {
    const outcome = row.revision > revision ? null : 'running'
    return { ...row, sentence: row.begun, detail: '', outcome, durationMs: null, costUsd: 0 }
  }
  return row.costAt > revision ? { ...row, costUsd: 0 } : row
}

/** `failed, exit 1`; `''` where there is no exit code. */
export function exitWords(exitCode: number | null): string {
  return exitCode === null ? '' : `failed, exit ${exitCode}`
}
