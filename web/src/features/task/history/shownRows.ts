/** Which rows of the timeline are listed: those of a filter that hold the words that are looked for, under the heads of their turns. Pure. */
import type { TimelineRow } from '#domain/history/rows.ts'
import type { TimelineSection } from '#domain/history/timeline.ts'

export const filters = ['all', 'turns', 'commands', 'commits', 'failures'] as const
export type Filter = (typeof filters)[number]

export type ListedRow =
  | { readonly kind: 'head'; readonly section: TimelineSection; readonly isFolded: boolean }
  | { readonly kind: 'row'; readonly section: TimelineSection; readonly row: TimelineRow }

interface Chosen {
  readonly filter: Filter
  readonly words: string
  /** The numbers of sections that are folded. */
  readonly folded: ReadonlySet<number>
}

export function shownRows(
  sections: readonly TimelineSection[],
  { filter, words, folded }: Chosen,
): readonly ListedRow[] {
  const wanted = words.trim().toLowerCase()
  const isNarrowed = filter !== 'all' || wanted !== ''
  return sections.flatMap((section): readonly ListedRow[] => {
    const isFound = wanted !== '' && section.prompt.toLowerCase().includes(wanted)
    const rows = section.rows.filter((row) => isOf(row, filter) && (wanted === '' || has(row, wanted)))
    const isHeadWanted =
      isFound || filter === 'turns' || (filter === 'failures' && section.outcome === 'failed')
    if (isNarrowed && rows.length === 0 && !(isHeadWanted && (wanted === '' || isFound))) return []
    const isFolded = folded.has(section.number)
    const head = { kind: 'head', section, isFolded } as const
    return isFolded ? [head] : [head, ...rows.map((row) => ({ kind: 'row', section, row }) as const)]
  })
}

function isOf({ kind, outcome }: TimelineRow, filter: Filter): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'turns':
      return kind === 'message' || kind === 'answer' || kind === 'turn'
    case 'commands':
      return kind === 'command'
    case 'commits':
      return kind === 'commit' || kind === 'pull_request'
    case 'failures':
      return outcome === 'failed'
  }
}

function has({ sentence, detail, targets }: TimelineRow, wanted: string): boolean {
  return [sentence, detail, ...targets].some((text) => text.toLowerCase().includes(wanted))
}

/** The row in which a moment is: the last that has begun at a revision of the task's stream; `-1` before the first. */
export function currentRow(rows: readonly ListedRow[], revision: number): number {
  return rows.findLastIndex((listed) => listed.kind === 'row' && listed.row.revision <= revision)
}
