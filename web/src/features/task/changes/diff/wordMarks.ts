/** Finds the words that differ between a line and its counterpart. Pure. */
import type { CodeSpan } from './highlight.ts'
import { longestCommon } from './longestCommon.ts'

/** A range of a line, in UTF-16 code units; `to` is exclusive. */
export interface Mark {
  readonly from: number
  readonly to: number
}

/** Lines with more words than this are not compared, because comparing takes time quadratic in the number of words. */
const wordsCompared = 300
/** If a smaller share of the line than this is equal, nothing is marked, because nearly everything would be. */
const leastInCommon = 0.3

/** The parts of `line` that are not in `counterpart`; empty when the two have too little in common or too many words. */
export function wordMarks(line: string, counterpart: string): readonly Mark[] {
  const words = wordsOf(line)
  const others = wordsOf(counterpart)
  if (words.length > wordsCompared || others.length > wordsCompared) return []
  const kept = new Set(longestCommon(words, others).map(([index]) => index))
  const same = words.reduce((length, word, index) => (kept.has(index) ? length + word.length : length), 0)
  if (same < line.length * leastInCommon) return []
  const marks: Mark[] = []
  let at = 0
  words.forEach((word, index) => {
    const to = at + word.length
    const last = marks.at(-1)
    if (!kept.has(index)) {
      if (last?.to === at) marks[marks.length - 1] = { from: last.from, to }
      else marks.push({ from: at, to })
    }
    at = to
  })
  return marks
}

function wordsOf(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

interface MarkedSpan extends CodeSpan {
  readonly changed: boolean
  readonly match: 'no' | 'found' | 'current'
}

interface LineMarks {
  readonly changed: readonly Mark[]
  readonly matches: readonly Mark[]
  /** The index of the current match in `matches`; `null` when there is none. */
  readonly current: number | null
}

/** The coloured spans of a line, split at its marks: changed words and search matches. */
export function marked(
  spans: readonly CodeSpan[],
  { changed, matches, current }: LineMarks,
): readonly MarkedSpan[] {
  const edges = [...changed, ...matches].flatMap(({ from, to }) => [from, to]).toSorted((a, b) => a - b)
  const result: MarkedSpan[] = []
  let at = 0
  for (const { text, className } of spans) {
    const start = at
    const inside = edges.filter((edge) => edge > start && edge < start + text.length)
    const cuts = [start, ...inside, start + text.length]
    cuts.slice(1).forEach((to, index) => {
      const from = cuts[index] ?? start
      if (from === to) return
      const within = (mark: Mark | undefined) => mark !== undefined && mark.from <= from && to <= mark.to
      const isCurrent = current !== null && within(matches[current])
      result.push({
        text: text.slice(from - start, to - start),
        className,
        changed: changed.some(within),
        match: isCurrent ? 'current' : matches.some(within) ? 'found' : 'no',
      })
    })
    at += text.length
  }
  return result
}

/** The first `length` UTF-16 code units of coloured text. */
export function cutSpans(spans: readonly CodeSpan[], length: number): readonly CodeSpan[] {
  const kept: CodeSpan[] = []
  let room = length
  for (const span of spans) {
    if (room <= 0) break
    kept.push(span.text.length <= room ? span : { ...span, text: span.text.slice(0, room) })
    room -= span.text.length
  }
  return kept
}
