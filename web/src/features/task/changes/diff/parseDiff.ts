/** Parses the unified diff of one file: its hunks, and the line numbers on both sides. Pure. */

export interface DiffLine {
  readonly kind: 'context' | 'added' | 'deleted'
  readonly before: number | null
  readonly after: number | null
  readonly text: string
  /** The text of the line that replaced this one, or that this one replaced: differing words are marked. */
  readonly counterpart: string | null
  readonly noNewline: boolean
}

/** The number of a line before the change and after the change, counted from 1. */
export interface Sides {
  readonly before: number
  readonly after: number
}

export interface Hunk {
  /** The header as in the diff: `@@ -38,6 +38,11 @@ export type Delivery = {` */
  readonly header: string
  readonly lines: readonly DiffLine[]
  /** The line numbers at which the hunk begins, also on a side where it has no lines. */
  readonly from: Sides
  /** The line numbers of the first line after the hunk. */
  readonly to: Sides
}

const hunkHeader = /^@@ -(?<before>\d+)(?:,(?<beforeCount>\d+))? \+(?<after>\d+)(?:,(?<afterCount>\d+))? @@/

/** The hunks of a diff; empty when there is nothing to show, as for a binary file. Text before the first hunk is skipped. */
export function parseDiff(diff: string): readonly Hunk[] {
  const hunks: Hunk[] = []
  let header = ''
  let lines: DiffLine[] | null = null
  let from: Sides = { before: 1, after: 1 }
  let before = 1
  let after = 1
  const close = () => {
    if (lines !== null) hunks.push({ header, lines: paired(lines), from, to: { before, after } })
    lines = null
  }
  const rows = diff.split('\n')
  // A diff ends with a line break, after which there is no line.
  if (rows.at(-1) === '') rows.pop()
  for (const row of rows) {
    const found = hunkHeader.exec(row)?.groups
    if (found !== undefined) {
      close()
      // For an empty range, git gives the number of the line before it.
      before = Number(found['before']) + (found['beforeCount'] === '0' ? 1 : 0)
      after = Number(found['after']) + (found['afterCount'] === '0' ? 1 : 0)
      header = row
      from = { before, after }
      lines = []
      continue
    }
    if (lines === null) continue
    const line = { text: row.slice(1), counterpart: null, noNewline: false }
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
        // Any other row that begins with a backslash is a note by the server, not by git.
        if (last !== undefined && row.startsWith('\\ No newline'))
          lines[lines.length - 1] = { ...last, noNewline: true }
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
        // In a diff of several files, the header of the next file ends the diff of this one.
        close()
        return hunks
    }
  }
  close()
  return hunks
}

/** Pairs deleted lines with the added lines that replaced them: the first with the first and so on, until one side has no more. */
export function paired(lines: readonly DiffLine[]): readonly DiffLine[] {
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

/** The key of a line in a file's diff, made of its numbers on both sides: it is the same in every view. Pure. */
export function lineKey({ before, after }: Pick<DiffLine, 'before' | 'after'>): string {
  return `${before ?? ''}:${after ?? ''}`
}
