/** Finds the words that differ between a line and its counterpart. Pure. */
import type { CodeSpan } from './highlight.ts'

/** A range of a line, in UTF-16 code units; `to` is exclusive. */
export interface Mark {
  readonly from: number
  readonly to: number
}

/** Lines with more words than this are not compared: the table grows with the square. */
const wordsCompared = 300
/** If less than this share of the line is equal, nearly everything would be marked, so nothing is. */
const leastInCommon = 0.3

/** The parts of `line` that are not in `counterpart`; empty when the two have too little in common. */
export function wordMarks(line: string, counterpart: string): readonly Mark[] {
  const words = wordsOf(line)
  const others = wordsOf(counterpart)
  if (words.length > wordsCompared || others.length > wordsCompared) return []
  const kept = inBoth(words, others)
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

/** The indexes in `a` of its longest common subsequence with `b`. */
function inBoth(a: readonly string[], b: readonly string[]): ReadonlySet<number> {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  const length = (i: number, j: number) => lengths[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1))
    }
  }
  const kept = new Set<number>()
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      kept.add(i)
      i += 1
      j += 1
    } else if (length(i + 1, j) >= length(i, j + 1)) i += 1
    else j += 1
  }
  return kept
}

/** Combines marks with the coloured spans of a line: changed words and search matches. Pure. */
export interface MarkedSpan extends CodeSpan {
  /** Differs from the counterpart. */
  readonly changed: boolean
  readonly found: 'no' | 'found' | 'current'
}

export interface LineMarks {
  readonly changed: readonly Mark[]
  readonly found: readonly Mark[]
  /** The index in `found` of the current match; `null` for none. */
  readonly current: number | null
}

export function marked(
  spans: readonly CodeSpan[],
  { changed, found, current }: LineMarks,
): readonly MarkedSpan[] {
  const edges = [...changed, ...found].flatMap(({ from, to }) => [from, to]).toSorted((a, b) => a - b)
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
      const isCurrent = current !== null && within(found[current])
      result.push({
        text: text.slice(from - start, to - start),
        className,
        changed: changed.some(within),
        found: isCurrent ? 'current' : found.some(within) ? 'found' : 'no',
      })
    })
    at += text.length
  }
  return result
}

/** The beginning of coloured text; `length` in UTF-16 code units. */
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
