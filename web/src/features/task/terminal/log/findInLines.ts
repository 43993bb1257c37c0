/** Searches the lines of a terminal, continuing where it stopped when lines are added. */
import { withoutColours } from './outputLines.ts'
import type { TerminalLine } from './terminalWriter.ts'

/** A match: the id of its line, and its index in that line. */
export interface Match {
  readonly id: number
  readonly nth: number
}

/** The most matches that are counted and navigable. */
export const mostMatches = 10_000

export interface Finder {
  /** All matches, in order, ignoring case; always the same array. */
  find(lines: readonly TerminalLine[], words: string): readonly Match[]
}

export function createFinder(): Finder {
  const matches: Match[] = []
  let of = ''
  let first = 0
  /** The id of the last line at the latest search, which may have been continued since. */
  let last = Number.NEGATIVE_INFINITY
  return {
    find(lines, words) {
      const firstId = lines[0]?.id ?? 0
      if (of !== words || firstId < first || matches.length >= mostMatches) {
        matches.length = 0
        last = Number.NEGATIVE_INFINITY
      } else if (firstId > first) {
        const kept = matches.findIndex(({ id }) => id >= firstId)
        matches.splice(0, kept === -1 ? matches.length : kept)
      }
      of = words
      first = firstId
      while ((matches.at(-1)?.id ?? Number.NEGATIVE_INFINITY) >= last && matches.length > 0) matches.pop()
      if (words === '') return matches
      for (let index = Math.max(0, last - firstId); index < lines.length; index += 1) {
        const line = lines[index]
        if (line === undefined || matches.length >= mostMatches) break
        const count = placesOf(withoutColours(line.text), words).length
        for (let nth = 0; nth < count && matches.length < mostMatches; nth += 1)
          matches.push({ id: line.id, nth })
      }
      last = lines.at(-1)?.id ?? Number.NEGATIVE_INFINITY
      return matches
    },
  }
}

/** The positions at which the words begin in a text, ignoring case. */
export function placesOf(text: string, words: string): readonly number[] {
  if (words === '') return []
  const lower = text.toLowerCase()
  // A few letters become longer in lower case, which would shift positions.
  const [within, what] = lower.length === text.length ? [lower, words.toLowerCase()] : [text, words]
  const places: number[] = []
  for (let at = within.indexOf(what); at !== -1; at = within.indexOf(what, at + what.length)) places.push(at)
  return places
}
