/** Changed files as the rows of one long list: a head a file, a bar a hunk, a row a line. Pure. */
import type { ChangedFile } from '#domain/api/tasks.ts'
import { parseDiff, type DiffLine, type Hunk } from './parseDiff.ts'

export type DiffRow =
  | { readonly kind: 'file'; readonly file: ChangedFile; readonly folded: boolean }
  | { readonly kind: 'hunk'; readonly file: ChangedFile; readonly hunk: Hunk }
  | {
      readonly kind: 'line'
      readonly file: ChangedFile
      readonly hunk: Hunk
      /** Index in the hunk. */
      readonly index: number
      readonly line: DiffLine
    }
  | { readonly kind: 'note'; readonly file: ChangedFile }

/** Pixels a row is high. */
export const rowHeights: Readonly<Record<DiffRow['kind'], number>> = {
  file: 36,
  hunk: 28,
  line: 20,
  note: 40,
}

/** Hunks of files, read once for as long as the answer they came in is on the screen. */
export function readDiffs(files: readonly ChangedFile[]): ReadonlyMap<string, readonly Hunk[]> {
  return new Map(files.map((file) => [file.fileName, parseDiff(file.diff)]))
}

export function diffRows(
  files: readonly ChangedFile[],
  hunks: ReadonlyMap<string, readonly Hunk[]>,
  folded: ReadonlySet<string>,
): readonly DiffRow[] {
  return files.flatMap((file): readonly DiffRow[] => {
    const isFolded = folded.has(file.fileName)
    const head: DiffRow = { kind: 'file', file, folded: isFolded }
    if (isFolded) return [head]
    const known = hunks.get(file.fileName) ?? []
    if (known.length === 0) return [head, { kind: 'note', file }]
    const rows: DiffRow[] = [head]
    for (const hunk of known) {
      rows.push({ kind: 'hunk', file, hunk })
      hunk.lines.forEach((line, index) => rows.push({ kind: 'line', file, hunk, index, line }))
    }
    return rows
  })
}

/** Characters of the longest line, up to a bound: how wide the list must be. */
export function widestLine(hunks: ReadonlyMap<string, readonly Hunk[]>): number {
  let widest = 0
  for (const each of hunks.values()) {
    for (const { lines } of each) for (const { text } of lines) widest = Math.max(widest, text.length)
  }
  return Math.min(widest, 2_000)
}

/** Files by folder, folders and files in the order of the alphabet. */
export function byFolder(
  files: readonly ChangedFile[],
): readonly { readonly folder: string; readonly files: readonly ChangedFile[] }[] {
  const folders = new Map<string, ChangedFile[]>()
  for (const file of files) {
    const { folder } = splitName(file.fileName)
    folders.set(folder, [...(folders.get(folder) ?? []), file])
  }
  return [...folders]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([folder, files]) => ({
      folder,
      files: files.toSorted((a, b) => a.fileName.localeCompare(b.fileName)),
    }))
}

/** `src/webhooks/` and `deliver.ts`; the folder is empty at the top. */
export function splitName(fileName: string): { readonly folder: string; readonly name: string } {
  const cut = fileName.lastIndexOf('/') + 1
  return { folder: fileName.slice(0, cut), name: fileName.slice(cut) }
}
