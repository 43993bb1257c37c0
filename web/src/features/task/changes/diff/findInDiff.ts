/** Finds text in the lines of a diff, ignoring case. Pure. */
import { placesOf } from '../../textMatches.ts'
import { type DiffLine, type Hunk, lineKey } from './parseDiff.ts'
import type { Mark } from './wordMarks.ts'

export interface Match {
  readonly fileName: string
  readonly key: string
  /** The index of this match among the matches in its line. */
  readonly nth: number
}

export const maxMatches = 5_000

export function findInDiff(
  files: readonly { readonly name: string; readonly hunks: readonly Hunk[] }[],
  needle: string,
): readonly Match[] {
  const matches: Match[] = []
  if (needle === '') return matches
  for (const { name, hunks } of files)
    for (const { lines } of hunks)
      for (const line of lines) {
        const { length } = placesOf(line.text, needle)
        for (let nth = 0; nth < length; nth += 1) {
          matches.push({ fileName: name, key: lineKey(line), nth })
          if (matches.length >= maxMatches) return matches
        }
      }
  return matches
}

export function marksIn({ text }: DiffLine, needle: string): readonly Mark[] {
  return placesOf(text, needle).map((from) => ({ from, to: from + needle.length }))
}
