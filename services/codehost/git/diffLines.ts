/** Parses a unified diff into lines with their line numbers. */
import { unquoted } from './bareRepository.ts'

export interface DiffLine {
  readonly kind: 'added' | 'deleted' | 'same' | 'hunk' | 'note'
  /** The line without its leading sign. */
  readonly text: string
  readonly oldLine?: number
  readonly newLine?: number
}

export interface DiffFile {
  readonly path: string
  readonly lines: readonly DiffLine[]
}

/** Parses a diff into files with their lines. Stops after `maxLines` over all files. */
export function readDiff(
  text: string,
  maxLines: number,
): { readonly files: readonly DiffFile[]; readonly truncated: boolean } {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const files: { path: string; lines: DiffLine[] }[] = []
  let [left, right] = [0, 0]
  let inHunk = false
  for (const line of lines.slice(0, maxLines)) {
    if (line.startsWith('diff --git ')) {
      files.push({ path: pathOf(line), lines: [] })
      inHunk = false
      continue
    }
    const file = files.at(-1)
    if (!file) continue
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (hunk) {
      ;[left, right] = [Number(hunk[1]), Number(hunk[2])]
      inHunk = true
      file.lines.push({ kind: 'hunk', text: line })
    } else if (!inHunk) {
      file.path = renamedTo(line) ?? file.path
      if (isWorthSaying(line)) file.lines.push({ kind: 'note', text: line })
    } else if (line.startsWith('+')) {
      file.lines.push({ kind: 'added', text: line.slice(1), newLine: right++ })
    } else if (line.startsWith('-')) {
      file.lines.push({ kind: 'deleted', text: line.slice(1), oldLine: left++ })
    } else if (line.startsWith('\\')) {
      file.lines.push({ kind: 'note', text: line.slice(2) })
    } else {
      file.lines.push({ kind: 'same', text: line.slice(1), oldLine: left++, newLine: right++ })
    }
  }
  return { files, truncated: lines.length > maxLines }
}

/** The path in a line `diff --git a/x b/x`. If the file was renamed, a later line of the diff has the new path. */
function pathOf(line: string): string {
  const names = line.slice('diff --git '.length)
  return unquoted(names.slice((names.length + 1) / 2)).replace(/^b\//, '')
}

function renamedTo(line: string): string | undefined {
  const [, name] = /^(?:rename|copy) to (.*)$/.exec(line) ?? []
  return name === undefined ? undefined : unquoted(name)
}

const isWorthSaying = (line: string): boolean =>
  /^(new file|deleted file|rename|copy|old mode|new mode|Binary files)/.test(line)
