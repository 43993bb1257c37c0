/**
 * Changed files as the rows of one long list: a head per file, bars where hunks begin or lines are left out, a row per line or per pair of lines side
 * by side, notes, and the comment box. Pure.
 */
import { type DiffLine, type Hunk, lineKey, type Sides } from './parseDiff.ts'
import type { DiffFile } from './readDiffs.ts'

interface PlacedLine {
  readonly hunk: Hunk
  readonly index: number
  readonly line: DiffLine
}

/** Lines that are not shown: `from` to `to` are old line numbers, both included; a `to` of `null` is the end of the file. */
export interface Gap {
  readonly from: number
  readonly to: number | null
  /** The place of the gap in the file. A gap at the top is expanded upwards, one at the end downwards, and one in the middle both ways. */
  readonly place: 'top' | 'middle' | 'end'
}

interface InFile {
  readonly id: string
  readonly file: DiffFile
}

export type LineRow = InFile & {
  readonly kind: 'line'
  /** `left` is a line of the old version, and `right` one of the new version. A row has one of them or both. */
  readonly left: PlacedLine | null
  readonly right: PlacedLine | null
  readonly changed: boolean
}

export type DiffRow =
  | (InFile & { readonly kind: 'file'; readonly folded: boolean })
  | (InFile & { readonly kind: 'bar'; readonly header: string; readonly gap: Gap | null })
  | LineRow
  | (InFile & { readonly kind: 'note'; readonly text: string })
  | (InFile & { readonly kind: 'large' })
  | (InFile & { readonly kind: 'comment' })

/** Row heights in pixels. Rows other than heads, bars and lines may be higher, so they are measured. */
export const rowHeights: Readonly<Record<DiffRow['kind'], number>> = {
  file: 36,
  bar: 28,
  line: 20,
  note: 40,
  large: 52,
  comment: 136,
}

/** The lines of a file's old version that were loaded. */
export interface KnownLines {
  readonly lines: ReadonlyMap<number, string>
  /** The number of lines in the file; `null` until that is known. */
  readonly total: number | null
}

/** The place of the comment box: below the last line that the comment is about. */
export interface CommentPlace {
  readonly fileName: string
  readonly lastKey: string
}

export interface DiffView {
  readonly isFolded: (file: DiffFile) => boolean
  /** Names of large files whose lines were requested. */
  readonly requested: ReadonlySet<string>
  readonly split: boolean
  readonly known: ReadonlyMap<string, KnownLines>
  readonly comment: CommentPlace | null
  readonly onlyWhitespace: string
}

export function diffRows(files: readonly DiffFile[], view: DiffView): readonly DiffRow[] {
  const rows: DiffRow[] = []
  files.forEach((file, number) => {
    const folded = view.isFolded(file)
    rows.push({ kind: 'file', id: `${number}`, file, folded })
    const comment = view.comment?.fileName === file.name ? view.comment : null
    // A comment whose line no longer exists stays with its file.
    const box: DiffRow = { kind: 'comment', id: `${number}c`, file }
    const first = rows.length
    if (folded) {
      if (comment !== null) rows.push(box)
      return
    }
    file.facts.notes.forEach((text, index) =>
      rows.push({ kind: 'note', id: `${number}n${index}`, file, text }),
    )
    if (file.hunks.length === 0 && file.hidden > 0)
      rows.push({ kind: 'note', id: `${number}w`, file, text: view.onlyWhitespace })
    if (file.isLarge && !view.requested.has(file.name)) rows.push({ kind: 'large', id: `${number}l`, file })
    else addLines(rows, number, file, view)
    if (comment === null) return
    const at = rows.findLastIndex(
      (row, index) =>
        index >= first &&
        row.kind === 'line' &&
        linesOf(row).some((line) => lineKey(line) === comment.lastKey),
    )
    rows.splice(at === -1 ? first : at + 1, 0, box)
  })
  return rows
}

/** The lines of a row. A deleted line comes before an added line. */
export function linesOf({ left, right }: LineRow): readonly DiffLine[] {
  if (left === null) return right === null ? [] : [right.line]
  if (right === null || right.line === left.line) return [left.line]
  return [left.line, right.line]
}

export function hasKey(row: DiffRow, fileName: string, key: string): boolean {
  return (
    row.kind === 'line' && row.file.name === fileName && linesOf(row).some((line) => lineKey(line) === key)
  )
}

/** The number of context lines that git gives around a change; fewer lines after the last change mean the end of the file. */
const givenContext = 3

function addLines(rows: DiffRow[], number: number, file: DiffFile, { split, known }: DiffView): void {
  for (const part of partsOf(file, known.get(file.name))) {
    if (part.kind === 'bar') {
      rows.push({ ...part, id: `${number}b${part.id}`, file })
      continue
    }
    for (const { left, right, changed } of split ? sideBySide(part.hunk) : inOrder(part.hunk))
      rows.push({
        kind: 'line',
        id: `${number}:${left === null ? '' : lineKey(left.line)}|${right === null ? '' : lineKey(right.line)}`,
        file,
        left,
        right,
        changed,
      })
  }
}

/** The shown hunks of a file, including loaded lines around the changes. */
export function hunksWithContext(file: DiffFile, known: KnownLines | undefined): readonly Hunk[] {
  return partsOf(file, known).flatMap((part) => (part.kind === 'lines' ? [part.hunk] : []))
}

type Part =
  | { readonly kind: 'lines'; readonly hunk: Hunk }
  | { readonly kind: 'bar'; readonly id: string; readonly header: string; readonly gap: Gap | null }

function partsOf({ hunks, facts }: DiffFile, lines: KnownLines = nothingKnown): readonly Part[] {
  const parts: Part[] = []
  const bar = (id: string, header: string, gap: Gap | null) => parts.push({ kind: 'bar', id, header, gap })
  const add = (hunk: Hunk) => parts.push({ kind: 'lines', hunk })
  let end: Sides = { before: 1, after: 1 }
  hunks.forEach((hunk, index) => {
    const gap = facts.hasBefore && hunk.from.before > end.before
    if (!gap) bar(`${index}`, hunk.header, null)
    else {
      const [above, below] = knownAround(lines, end, hunk.from)
      const isWhole = above !== null && above.to.before === hunk.from.before
      // The gap at the top of a file is expanded upwards, so loaded lines at its upper end are left out until the whole gap is loaded.
      if (above !== null && (index > 0 || isWhole)) add(above)
      if (!isWhole) {
        const from = index > 0 && above !== null ? above.to.before : end.before
        const to = (below?.from.before ?? hunk.from.before) - 1
        bar(`${index}`, hunk.header, { from, to, place: index === 0 ? 'top' : 'middle' })
        if (below !== null) add(below)
      }
    }
    add(hunk)
    end = hunk.to
  })
  const last = hunks.at(-1)
  if (last === undefined || !facts.hasBefore || facts.isCut || !mayGoOn(last)) return parts
  const below = knownFrom(lines, end)
  if (below !== null) add(below)
  const from = (below ?? last).to.before
  if (lines.total === null || from <= lines.total) bar('e', '', { from, to: lines.total, place: 'end' })
  return parts
}

const nothingKnown: KnownLines = { lines: new Map(), total: null }

function mayGoOn({ lines }: Hunk): boolean {
  const context = lines.length - 1 - lines.findLastIndex(({ kind }) => kind !== 'context')
  return context >= givenContext && lines.at(-1)?.noNewline === false
}

/** The loaded parts of a gap: one from its upper end downwards, and one from its lower end upwards. */
function knownAround(lines: KnownLines, from: Sides, to: Sides): readonly [Hunk | null, Hunk | null] {
  const above = knownFrom(lines, from, to.before)
  let first = to.before
  while (first > from.before && lines.lines.has(first - 1)) first -= 1
  const size = to.before - first
  return [above, size === 0 ? null : context(lines, { before: first, after: to.after - size }, size)]
}

function knownFrom(lines: KnownLines, from: Sides, end = Infinity): Hunk | null {
  let size = 0
  while (from.before + size < end && lines.lines.has(from.before + size)) size += 1
  return size === 0 ? null : context(lines, from, size)
}

function context({ lines }: KnownLines, from: Sides, size: number): Hunk {
  return {
    header: '',
    from,
    to: { before: from.before + size, after: from.after + size },
    lines: Array.from({ length: size }, (_, index) => ({
      kind: 'context',
      before: from.before + index,
      after: from.after + index,
      text: lines.get(from.before + index) ?? '',
      counterpart: null,
      noNewline: false,
    })),
  }
}

type Placed = Pick<LineRow, 'left' | 'right' | 'changed'>

function inOrder(hunk: Hunk): readonly Placed[] {
  return hunk.lines.map((line, index) => {
    const placed = { hunk, index, line }
    return {
      left: line.kind === 'added' ? null : placed,
      right: line.kind === 'deleted' ? null : placed,
      changed: line.kind !== 'context',
    }
  })
}

/** Pairs deleted lines, on the left, with the added lines that replaced them, on the right. */
function sideBySide(hunk: Hunk): readonly Placed[] {
  const rows: Placed[] = []
  let left: PlacedLine[] = []
  let right: PlacedLine[] = []
  const flush = () => {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1)
      rows.push({ left: left[index] ?? null, right: right[index] ?? null, changed: true })
    left = []
    right = []
  }
  hunk.lines.forEach((line, index) => {
    const placed = { hunk, index, line }
    if (line.kind === 'deleted') {
      // A deletion after an addition starts another change.
      if (right.length > 0) flush()
      left.push(placed)
    } else if (line.kind === 'added') right.push(placed)
    else {
      flush()
      rows.push({ left: placed, right: placed, changed: false })
    }
  })
  flush()
  return rows
}

/** For each hunk, the index of the row with its first changed line. */
export function hunkStarts(rows: readonly DiffRow[]): readonly number[] {
  let last: Hunk | undefined
  return rows.flatMap((row, index) => {
    if (row.kind !== 'line' || !row.changed) return []
    const hunk = (row.left ?? row.right)?.hunk
    if (hunk === last) return []
    last = hunk
    return [index]
  })
}

/** Characters that are drawn about twice as wide as a Latin letter: those of Chinese, Japanese and Korean. */
const wideCharacter = /[\u1100-\u115f\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60]/g

/**
 * The width of the widest line in Latin letters, counting a tab as four and at most the first `maxLineLength` characters. It determines the width of
 * the list.
 */
export function widestLine(files: readonly DiffFile[]): number {
  let widest = 0
  for (const { hunks } of files)
    for (const { lines } of hunks)
      for (const { text } of lines) {
        const shown = text.slice(0, maxLineLength)
        const tabs = shown.includes('\t') ? shown.split('\t').length - 1 : 0
        const wide = shown.match(wideCharacter)?.length ?? 0
        widest = Math.max(widest, shown.length + 3 * tabs + wide)
      }
  return widest
}

/** The number of characters after which a shown line is cut. */
export const maxLineLength = 2_000
