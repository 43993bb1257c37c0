/** The selected range of lines for a comment: from its anchor to its head, within one file. */
import { useMemo, useState } from 'react'
import { type DiffLine, lineKey } from '../diff/parseDiff.ts'
import { type DiffRow, type LineRow, linesOf } from '../diff/diffRows.ts'

export interface Range {
  readonly anchor: string
  readonly head: string
}

export interface CommentTarget {
  readonly fileName: string
  readonly lines: readonly DiffLine[]
  readonly keys: ReadonlySet<string>
  readonly firstKey: string
  readonly lastKey: string
}

export function useRange(rows: readonly DiffRow[]) {
  const [range, setRange] = useState<Range | null>(null)
  const inRange = useMemo(
    (): readonly LineRow[] => (range === null ? [] : rowsBetween(rows, range)),
    [rows, range],
  )
  const ids = useMemo(() => new Set(inRange.map(({ id }) => id)), [inRange])
  return { range, setRange, inRange, ids }
}

/** The rows of lines from the anchor to the head of the range. If the anchor is gone or in another file, only the row of the head. */
export function rowsBetween(rows: readonly DiffRow[], { anchor, head }: Range): readonly LineRow[] {
  const one = rows.findIndex(({ id }) => id === anchor)
  const other = rows.findIndex(({ id }) => id === head)
  const last = rows[other]
  if (last?.kind !== 'line') return []
  if (one === -1 || rows[one]?.file.name !== last.file.name) return [last]
  return rows
    .slice(Math.min(one, other), Math.max(one, other) + 1)
    .flatMap((row) => (row.kind === 'line' ? [row] : []))
}

export function targetOf(rows: readonly LineRow[]): CommentTarget | null {
  const [first, last] = [rows[0], rows.at(-1)]
  if (first === undefined || last === undefined) return null
  const lines = inDiffOrder(rows.flatMap(linesOf))
  const keys = new Set(lines.map(lineKey))
  const [firstLine, lastLine] = [linesOf(first)[0], linesOf(last).at(-1)]
  if (firstLine === undefined || lastLine === undefined) return null
  return { fileName: first.file.name, lines, keys, firstKey: lineKey(firstLine), lastKey: lineKey(lastLine) }
}

/** The lines in the order of a unified diff: the deletions of a change come first. In the side-by-side view, they alternate with additions. */
function inDiffOrder(lines: readonly DiffLine[]): readonly DiffLine[] {
  const result: DiffLine[] = []
  let added: DiffLine[] = []
  for (const line of lines) {
    if (line.kind === 'added') added.push(line)
    else if (line.kind === 'deleted') result.push(line)
    else {
      result.push(...added, line)
      added = []
    }
  }
  return [...result, ...added]
}
