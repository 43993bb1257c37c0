/** Removes whitespace-only changes from parsed hunks, like `git diff -w`. Pure. */
import { longestCommon } from './longestCommon.ts'
import { paired, type DiffLine, type Hunk } from './parseDiff.ts'
import type { DiffFile } from './readDiffs.ts'

/**
 * Runs of more lines than this are compared in order, line by line, because finding the longest common sequence takes time quadratic in the length.
 */
const linesCompared = 400

/**
 * The hunks without whitespace-only changes; a hunk with no other change is removed. `hidden` is the number of changed lines that are shown as
 * unchanged, or not at all.
 */
export function withoutWhitespace(hunks: readonly Hunk[]): Pick<DiffFile, 'hunks' | 'hidden'> {
  let hidden = 0
  const left = hunks.flatMap((hunk): readonly Hunk[] => {
    const { lines, found } = quiet(hunk.lines)
    if (found === 0) return [hunk]
    hidden += found
    return lines.some(({ kind }) => kind !== 'context') ? [{ ...hunk, lines: paired(lines) }] : []
  })
  return { hunks: left, hidden }
}

export function quietDiffs(files: readonly DiffFile[]): readonly DiffFile[] {
  return files.map((each) => {
    const { hunks, hidden } = withoutWhitespace(each.hunks)
    return hidden === 0 ? each : { ...each, hunks, hidden }
  })
}

function quiet(lines: readonly DiffLine[]): { readonly lines: readonly DiffLine[]; readonly found: number } {
  const result: DiffLine[] = []
  let found = 0
  let index = 0
  while (index < lines.length) {
    const line = lines[index]
    if (line?.kind === 'context') {
      result.push(line)
      index += 1
      continue
    }
    let end = index
    while (end < lines.length && lines[end]?.kind !== 'context') end += 1
    const run = lines.slice(index, end)
    const deleted = run.filter(({ kind }) => kind === 'deleted')
    const added = run.filter(({ kind }) => kind === 'added')
    let [d, a] = [0, 0]
    for (const [old, young] of matches(deleted, added)) {
      result.push(...deleted.slice(d, old), ...added.slice(a, young))
      const [was, is] = [deleted[old], added[young]]
      if (was !== undefined && is !== undefined)
        result.push({ ...is, kind: 'context', before: was.before, counterpart: null })
      ;[d, a] = [old + 1, young + 1]
      found += 1
    }
    result.push(...deleted.slice(d), ...added.slice(a))
    index = end
  }
  return { lines: result.map((line) => ({ ...line, counterpart: null })), found }
}

/**
 * Pairs deleted lines, by index, with added lines that differ only in whitespace: as many as possible in the same order or, in long runs, only those
 * with equal indexes.
 */
function matches(
  deleted: readonly DiffLine[],
  added: readonly DiffLine[],
): readonly (readonly [old: number, young: number])[] {
  const [a, b] = [deleted.map(bare), added.map(bare)]
  if (a.length > linesCompared || b.length > linesCompared)
    return a.flatMap((text, index) => (text === b[index] ? [[index, index] as const] : []))
  return longestCommon(a, b)
}

function bare({ text }: DiffLine): string {
  return text.replace(/\s+/g, '')
}
