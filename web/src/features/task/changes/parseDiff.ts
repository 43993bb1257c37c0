/** Reads the unified diff of one file: its hunks, and of each line where it is on both sides. Pure. */

export interface DiffLine {
  readonly kind: 'context' | 'added' | 'deleted'
  /** Line number before, `null` for an added line. */
  readonly before: number | null
  /** Line number after, `null` for a deleted line. */
  readonly after: number | null
  readonly text: string
  /** The line it took the place of, or that took its place: what differs between the two is marked. */
  readonly counterpart: string | null
  /** The file ends here without a line break. */
  readonly noNewline: boolean
}

export interface Hunk {
  /** `@@ -38,6 +38,11 @@ export type Delivery = {` */
  readonly header: string
  readonly lines: readonly DiffLine[]
}

const hunkHeader = /^@@ -(?<before>\d+)(?:,\d+)? \+(?<after>\d+)(?:,\d+)? @@/

/** The hunks of a diff; none when there is nothing to show, as for a binary file. What is before the first hunk is skipped. */
export function parseDiff(diff: string): readonly Hunk[] {
  const hunks: { header: string; lines: DiffLine[] }[] = []
  let before = 0
  let after = 0
  const rows = diff.split('\n')
  // A diff ends with a line break: what follows it is no line.
  if (rows.at(-1) === '') rows.pop()
  for (const row of rows) {
    const header = hunkHeader.exec(row)
    if (header !== null) {
      before = Number(header.groups?.['before'])
      after = Number(header.groups?.['after'])
      hunks.push({ header: row, lines: [] })
      continue
    }
    const lines = hunks.at(-1)?.lines
    if (lines === undefined) continue
    const text = row.slice(1)
    const line = { text, counterpart: null, noNewline: false }
    switch (row[0]) {
      case '+':
        lines.push({ ...line, kind: 'added', before: null, after })
        after += 1
        break
      case '-':
        lines.push({ ...line, kind: 'deleted', before, after: null })
        before += 1
        break
      case '\\': {
        const last = lines.at(-1)
        if (last !== undefined) lines[lines.length - 1] = { ...last, noNewline: true }
        break
      }
      case ' ':
      case undefined:
        // Some tools drop the space of an empty context line.
        lines.push({ ...line, kind: 'context', before, after })
        before += 1
        after += 1
        break
      default:
        // The next file's header in a diff of several: this file is over.
        return hunks.map(({ header, lines }) => ({ header, lines: paired(lines) }))
    }
  }
  return hunks.map(({ header, lines }) => ({ header, lines: paired(lines) }))
}

/** Gives each deleted line the added one that took its place: the first the first, as far as both go. */
function paired(lines: readonly DiffLine[]): readonly DiffLine[] {
  const result = [...lines]
  let index = 0
  while (index < lines.length) {
    const deleted = runOf(lines, index, 'deleted')
    const added = runOf(lines, index + deleted, 'added')
    for (let each = 0; each < Math.min(deleted, added); each += 1) {
      const old = lines[index + each]
      const young = lines[index + deleted + each]
      if (old === undefined || young === undefined) continue
      result[index + each] = { ...old, counterpart: young.text }
      result[index + deleted + each] = { ...young, counterpart: old.text }
    }
    index += Math.max(1, deleted + added)
  }
  return result
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let count = 0
  while (lines[from + count]?.kind === kind) count += 1
  return count
}
