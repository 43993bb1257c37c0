/** Finds text in the lines of a diff, ignoring case. Pure. */
import { type DiffLine, type Hunk, lineKey } from './parseDiff.ts'
import type { Mark } from './wordMarks.ts'

export interface Match {
  readonly fileName: string
  /** The key of its line. */
  readonly key: string
  /** Its index among the matches in its line. */
  readonly nth: number
}

/** The most matches that are counted. */
export const mostMatches = 5_000

export function findInDiff(
  files: readonly { readonly name: string; readonly hunks: readonly Hunk[] }[],
  wanted: string,
): readonly Match[] {
  const found: Match[] = []
  if (wanted === '') return found
  for (const { name, hunks } of files)
    for (const { lines } of hunks)
      for (const line of lines) {
        const marks = foundIn(line, wanted)
        for (let nth = 0; nth < marks.length; nth += 1) {
          found.push({ fileName: name, key: lineKey(line), nth })
          if (found.length >= mostMatches) return found
        }
      }
  return found
}

/** Where a line has it. */
export function foundIn({ text }: DiffLine, wanted: string): readonly Mark[] {
  if (wanted === '') return none
  const lower = text.toLowerCase()
  // A few letters become longer in lower case, which would shift positions: such a line is searched as it is.
  const searched = lower.length === text.length ? lower : text
  const sought = wanted.toLowerCase()
  let at = searched.indexOf(sought)
  if (at === -1) return none
  const marks: Mark[] = []
  while (at !== -1) {
    marks.push({ from: at, to: at + sought.length })
    at = searched.indexOf(sought, at + sought.length)
  }
  return marks
}

const none: readonly Mark[] = []
