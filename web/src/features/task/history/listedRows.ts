/**
 * The rows listed in the timeline: those that match the filter and the search, below the heads of their turns, together with days, gaps and expanded
 * output. Pure.
 */
import { labelOf } from '#domain/agents.ts'
import type { OutputPiece, TimelineRow, Who } from '#domain/history/row.ts'
import type { TimelineSection } from '#domain/history/timeline.ts'
import { dayOf } from '../../../ui/text/dates.ts'
import { texts } from './texts.ts'

export const filters = ['all', 'turns', 'commands', 'commits', 'failures'] as const
export type Filter = (typeof filters)[number]

interface InSection {
  readonly section: TimelineSection
  readonly row: TimelineRow
}

export type ListedRow =
  | { readonly kind: 'head'; readonly section: TimelineSection; readonly isFolded: boolean }
  | ({ readonly kind: 'row' } & InSection)
  /** The output of one row, or all other output of a turn. `isOpen` says whether the pieces of the output are listed too. */
  | {
      readonly kind: 'output'
      readonly key: string
      readonly pieces: readonly OutputPiece[]
      readonly isOpen: boolean
    }
  | { readonly kind: 'piece'; readonly piece: OutputPiece }
  | { readonly kind: 'day'; readonly at: string }
  /** There is no entry in the `ms` milliseconds before the row or head at `revision`; `isIdle` says whether a head follows. */
  | { readonly kind: 'gap'; readonly ms: number; readonly revision: number; readonly isIdle: boolean }

interface TimelineView {
  readonly filter: Filter
  readonly words: string
  /** The actor whose rows are listed; `null` lists everybody's. */
  readonly actor: string | null
  /** The name of the task's owner. */
  readonly person: string
  readonly folded: ReadonlySet<number>
  readonly unfolded: ReadonlySet<string>
}

/** The minimum length of a listed gap, in milliseconds. */
const gapMs = 60_000

export function listedRows(sections: readonly TimelineSection[], chosen: TimelineView): readonly ListedRow[] {
  const { filter, words, actor, person, folded, unfolded } = chosen
  const needle = words.trim().toLowerCase()
  const isNarrowed = filter !== 'all' || needle !== '' || actor !== null
  const listed: ListedRow[] = []
  let day = ''
  let quietSince: number | null = null
  const begin = (at: string, revision: number, isIdle: boolean) => {
    if (dayOf(at) !== day) listed.push({ kind: 'day', at })
    day = dayOf(at)
    const ms = quietSince === null || isNarrowed ? 0 : Date.parse(at) - quietSince
    if (ms >= gapMs) listed.push({ kind: 'gap', ms, revision, isIdle })
    quietSince = Math.max(quietSince ?? 0, Date.parse(at))
  }
  for (const section of sections) {
    const isFound = needle !== '' && section.prompt.toLowerCase().includes(needle)
    const rows = section.rows.filter(
      (row) =>
        isOf(row, filter) &&
        (needle === '' || matches(row, needle)) &&
        (actor === null || nameOf(row.who, person) === actor),
    )
    const isHeadListed =
      isFound || filter === 'turns' || (filter === 'failures' && section.outcome === 'failed')
    if (isNarrowed && rows.length === 0 && (actor !== null || !isHeadListed || !(needle === '' || isFound)))
      continue
    const isFolded = folded.has(section.number)
    begin(section.at, section.revision, true)
    listed.push({ kind: 'head', section, isFolded })
    for (const row of rows) {
      if (!isFolded) {
        begin(row.at, row.revision, false)
        listed.push({ kind: 'row', section, row })
        if (hasOwnOutput(row)) listed.push(...outputOf(`${row.revision}`, row.output, unfolded))
      }
      quietSince = Math.max(quietSince ?? 0, endOf(row))
    }
    const others = isNarrowed || isFolded ? [] : rows.filter((row) => !hasOwnOutput(row))
    listed.push(
      ...outputOf(
        `of ${section.number}`,
        others.flatMap(({ output }) => output),
        unfolded,
      ),
    )
  }
  return listed
}

/** Whether the output of a row is listed below the row. Other rows print little, and their output is listed at the end of the turn. */
function hasOwnOutput({ kind }: TimelineRow): boolean {
  return kind === 'command' || kind === 'tool' || kind === 'setup'
}

function outputOf(
  key: string,
  pieces: readonly OutputPiece[],
  unfolded: ReadonlySet<string>,
): readonly ListedRow[] {
  if (pieces.length === 0) return []
  const isOpen = unfolded.has(key)
  const pieceRows = isOpen ? pieces.map((piece) => ({ kind: 'piece', piece }) as const) : []
  return [{ kind: 'output', key, pieces, isOpen }, ...pieceRows]
}

/** When the last thing in a row happened, as far as is known, in milliseconds since 1970. */
function endOf({ at, durationMs, output }: TimelineRow): number {
  const printed = output.at(-1)?.item.output.timestamp
  return Math.max(Date.parse(at) + (durationMs ?? 0), printed === undefined ? 0 : Date.parse(printed))
}

const kindsOf: Readonly<Partial<Record<Filter, readonly TimelineRow['kind'][]>>> = {
  turns: ['message', 'answer', 'turn', 'question'],
  commands: ['command'],
  commits: ['commit', 'pull_request'],
}

function isOf({ kind, outcome }: TimelineRow, filter: Filter): boolean {
  if (filter === 'failures') return outcome === 'failed'
  return kindsOf[filter]?.includes(kind) ?? true
}

function matches({ sentence, detail, targets }: TimelineRow, needle: string): boolean {
  return [sentence, detail, ...targets].some((text) => text.toLowerCase().includes(needle))
}

/** The name of an actor; `person` is the name of the task's owner. */
export function nameOf(who: Who, person: string): string {
  if (typeof who === 'object') return labelOf(who.agent)
  return who === 'person' ? person : texts.who[who]
}

/** All actors, in the order of their first row. */
export function actorsIn(sections: readonly TimelineSection[], person: string): readonly string[] {
  return [...new Set(sections.flatMap(({ rows }) => rows.map(({ who }) => nameOf(who, person))))]
}

export function countsOf(sections: readonly TimelineSection[]): {
  readonly entries: number
  readonly pieces: number
} {
  const rows = sections.flatMap((section) => section.rows)
  return { entries: rows.length, pieces: rows.reduce((sum, { output }) => sum + output.length, 0) }
}

/**
 * The index of the last row that had begun at a moment; `-1` for none. `revision` and `index` belong to the last event and the last item of that
 * moment.
 */
export function currentRow(rows: readonly ListedRow[], revision: number, index: number): number {
  let current = -1
  let at = { revision: -1, index: -1 }
  for (const [place, listed] of rows.entries()) {
    const position = placeOf(listed)
    if (position === undefined || position.revision > revision || position.index > index) continue
    // Expanded output at the end of a turn may be older than the rows above it.
    if (position.revision < at.revision || (position.revision === at.revision && position.index < at.index))
      continue
    current = place
    at = position
  }
  return current
}

/**
 * The place of a row in the history. An event has its own revision. A piece of output has the revision of the event before it, and the index of the
 * item.
 */
function placeOf(listed: ListedRow): { readonly revision: number; readonly index: number } | undefined {
  if (listed.kind === 'row') return { revision: listed.row.revision, index: -1 }
  if (listed.kind !== 'piece') return undefined
  return { revision: listed.piece.item.follows, index: listed.piece.index }
}
