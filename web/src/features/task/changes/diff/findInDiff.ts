/** Finds text in the lines of a diff, ignoring case. Pure. */
import { placesOf } from '../../placesOf.ts'
import { type DiffLine, type Hunk, lineKey } from './parseDiff.ts'
import type { Mark } from './wordMarks.ts'

export interface Match {
  readonly fileName: string
  readonly key: string
  /** Its index among the matches in its line. */
  readonly nth: number
}

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
        const { length } = placesOf(line.text, wanted)
        for (let nth = 0; nth < length; nth += 1) {
          found.push({ fileName: name, key: lineKey(line), nth })
          if (found.length >= mostMatches) return found
        }
      }
  return found
}

export function foundIn({ text }: DiffLine, wanted: string): readonly Mark[] {
  return placesOf(text, wanted).map((from) => ({ from, to: from + wanted.length }))
}
