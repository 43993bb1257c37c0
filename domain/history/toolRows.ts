/** The rows of tool calls in the timeline, and the commits that a tool call reports. */
import type { TaskEventMessage } from '../api/socket.schema.ts'
import { excerpt, plainExcerpt } from './excerpt.ts'
import { exitWords, plainRow, type RowKind, type TimelineRow } from './row.ts'

type Event<Type extends TaskEventMessage['type']> = Extract<TaskEventMessage, { type: Type }>

const toolKinds = {
  read: 'read',
  edit: 'edit',
  run: 'command',
  search: 'search',
  fetch: 'fetch',
  todo: 'plan',
  other: 'tool',
} as const satisfies Record<Event<'ToolStarted'>['data']['kind'], RowKind>

export function toolRow(event: Event<'ToolStarted'>, agent: string): TimelineRow {
  const kind = toolKinds[event.data.kind]
  const targets = [excerpt(event.content?.target) || (event.content?.name ?? '')]
  const sentence = toolWords(kind, targets)
  return {
    ...plainRow(event),
    kind,
    targets,
    who: { agent },
    outcome: 'running',
    knownAt: Infinity,
    sentence,
    begun: sentence,
  }
}

/** One row in place of two successive rows; `null` when their kinds differ, when rows of this kind are not grouped, or when the first row failed. */
export function groupWith(row: TimelineRow, next: TimelineRow): TimelineRow | null {
  const isMany = row.kind === 'read' || row.kind === 'edit' || row.kind === 'search' || row.kind === 'fetch'
  if (!isMany || row.kind !== next.kind || row.outcome === 'failed') return null
  const targets = [...row.targets, ...next.targets]
  const { until, knownAt } = next
  return { ...row, until, knownAt, targets, outcome: 'running', sentence: toolWords(row.kind, targets) }
}

export function withToolEnd(
  row: TimelineRow,
  { data, content, revision }: Event<'ToolFinished'>,
): TimelineRow {
  const { ok, exitCode, durationMs, additions, deletions } = data
  const lines = additions === null && deletions === null ? '' : `+${additions ?? 0} −${deletions ?? 0}`
  const failedWith = row.kind === 'command' ? exitWords(exitCode) : plainExcerpt(content?.summary)
  // A row of several calls that run at once has failed if any of them has.
  const hasFailed = !ok || row.outcome === 'failed'
  return {
    ...row,
    until: Math.max(row.until, revision),
    knownAt: revision,
    outcome: hasFailed ? 'failed' : 'completed',
    detail: ok ? (row.targets.length === 1 ? lines : row.detail) : failedWith || 'failed',
    durationMs: durationMs === null ? row.durationMs : (row.durationMs ?? 0) + durationMs,
  }
}

function toolWords(kind: RowKind, targets: readonly string[]): string {
  const [first = ''] = targets
  const different = [...new Set(targets)]
  switch (kind) {
    case 'read':
      return different.length === 1 ? `Read ${first}` : `Read ${different.length} files`
    case 'edit':
      return different.length <= 3 ? `Edited ${listed(different)}` : `Edited ${different.length} files`
    case 'search':
      return targets.length === 1 ? `Searched for ${first}` : `Searched ${targets.length} times`
    case 'fetch':
      return different.length === 1 ? `Fetched ${first}` : `Fetched ${different.length} pages`
    case 'command':
      return `Ran ${first}`
    case 'plan':
      return 'Updated its plan'
    default:
      return `Used ${first}`
  }
}

function listed(words: readonly string[]): string {
  return words.length <= 1 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}

export interface Commit {
  /** The abbreviated id, as git prints it. */
  readonly id: string
  readonly subject: string
}

/** The line that `git commit` prints, such as `[main 41d9e7c] Subject`, also for a first commit and a detached HEAD. */
const line = /^\[(?:[^\]\n]{1,300} )([0-9a-f]{7,40})\] (.{1,300})$/gm

/** The commits that a command made, by its output; empty unless the command has `git` and `commit`. */
export function commitsIn(command: string, output: string): readonly Commit[] {
  if (!/\bgit\b/.test(command) || !/\bcommit\b/.test(command)) return []
  return [...output.matchAll(line)].flatMap(([, id, subject]) =>
    id !== undefined && subject !== undefined ? [{ id, subject }] : [],
  )
}
