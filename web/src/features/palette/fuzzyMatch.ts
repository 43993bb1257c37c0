/** Fuzzy matching: whether a text matches a query, how well, and in which parts. Pure. */

export interface Match {
  /** A higher score is a better match. */
  readonly score: number
  /** The start of each matching part and the index after its end, in order; no two parts are adjacent. */
  readonly marks: readonly (readonly [from: number, to: number])[]
}

/** When the letters of a word match one by one, they may be spread over at most this many times the length of the word. */
const maxSpread = 4

/**
 * Matches every word of `query` somewhere in `text`, in any order and case. A word matches as a whole, best at the beginning of a word of the text,
 * or letter by letter from the beginning of such a word on (`nwp` in `New project`). `null` when a word does not match.
 */
export function match(text: string, query: string): Match | null {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = text.toLowerCase()
  // Some letters have a longer lower-case form, which would shift the marks after them. A text with such letters is searched as it is written.
  const searched = lower.length === text.length ? lower : text
  let score = 0
  const marks: (readonly [number, number])[] = []
  for (const word of words) {
    const found = whole(searched, word) ?? scattered(searched, word)
    if (found === null) return null
    score += found.score
    marks.push(...found.marks)
  }
  return { score, marks: mergeAdjacent(marks) }
}

function whole(text: string, word: string): Match | null {
  let best: Match | null = null
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const score = at === 0 ? 4 : beginsWord(text, at) ? 3 : 2
    if (best === null || score > best.score) best = { score, marks: [[at, at + word.length]] }
  }
  return best
}

function scattered(text: string, word: string): Match | null {
  if (word.length < 2) return null
  const initial = word.charAt(0)
  for (let start = text.indexOf(initial); start !== -1; start = text.indexOf(initial, start + 1)) {
    if (!beginsWord(text, start)) continue
    const marks: (readonly [number, number])[] = []
    let next = start
    for (const letter of word) {
      const at = text.indexOf(letter, next)
      if (at === -1) break
      marks.push([at, at + letter.length])
      next = at + letter.length
    }
    if (marks.length === [...word].length && next - start <= word.length * maxSpread)
      return { score: 1, marks }
  }
  return null
}

function beginsWord(text: string, at: number): boolean {
  return at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))
}

function mergeAdjacent(marks: readonly (readonly [number, number])[]): Match['marks'] {
  const out: (readonly [number, number])[] = []
  for (const [from, to] of marks.toSorted((a, b) => a[0] - b[0])) {
    const last = out.at(-1)
    if (last !== undefined && from <= last[1]) out[out.length - 1] = [last[0], Math.max(last[1], to)]
    else out.push([from, to])
  }
  return out
}
