/** Searches the lines of a terminal, continuing where it stopped when lines are added. */
import { placesOf } from '../../textMatches.ts'
import { withoutColours } from './outputLines.ts'
import type { TerminalLine } from './terminalWriter.ts'

export interface Match {
  readonly id: number
  readonly nth: number
}

/** The most matches that are counted and can be navigated to. */
export const maxMatches = 10_000

export function createFinder() {
  const matches: Match[] = []
  let lastWords = ''
  let first = 0
  /** The id of the last line at the latest search; text may have been added to that line since. */
  let last = Number.NEGATIVE_INFINITY
  return {
    /** The first `maxMatches` matches, in order, ignoring case; always the same array. */
    find(lines: readonly TerminalLine[], words: string): readonly Match[] {
      const firstId = lines[0]?.id ?? 0
      if (lastWords !== words || firstId < first || matches.length >= maxMatches) {
        matches.length = 0
        last = Number.NEGATIVE_INFINITY
      } else if (firstId > first) {
        const firstKept = matches.findIndex(({ id }) => id >= firstId)
        matches.splice(0, firstKept === -1 ? matches.length : firstKept)
      }
      lastWords = words
      first = firstId
      while ((matches.at(-1)?.id ?? Number.NEGATIVE_INFINITY) >= last && matches.length > 0) matches.pop()
      if (words === '') return matches
      for (let index = Math.max(0, last - firstId); index < lines.length; index += 1) {
        const line = lines[index]
        if (line === undefined || matches.length >= maxMatches) break
        const count = placesOf(withoutColours(line.text), words).length
        for (let nth = 0; nth < count && matches.length < maxMatches; nth += 1)
          matches.push({ id: line.id, nth })
      }
      last = lines.at(-1)?.id ?? Number.NEGATIVE_INFINITY
      return matches
    },
  }
}
