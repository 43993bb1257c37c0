/** Assigns each piece of terminal output to the last row of the timeline that began before it. */
import type { HistoryItem } from './item.ts'
import type { OutputPiece } from './row.ts'
import type { TimelineSection } from './timeline.ts'

/** Returns the sections with the output added to their rows. Output from before the first row is added to the first row. */
export function withOutput(
  sections: readonly TimelineSection[],
  items: readonly HistoryItem[],
): readonly TimelineSection[] {
  const pieces = items.flatMap((item, index): readonly OutputPiece[] =>
    item.kind === 'output' ? [{ index, item }] : [],
  )
  const begins = sections.flatMap(({ rows }) => rows.map(({ revision }) => revision))
  let row = 0
  let piece = 0
  return sections.map((section) => ({
    ...section,
    rows: section.rows.map((each) => {
      const next = begins[(row += 1)] ?? Infinity
      const from = piece
      while (piece < pieces.length && (pieces[piece]?.item.follows ?? 0) < next) piece += 1
      return piece === from ? each : { ...each, output: pieces.slice(from, piece) }
    }),
  }))
}
