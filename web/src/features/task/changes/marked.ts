/** Lays marks over the coloured spans of a line: the words that changed, and what was found. Pure. */
import type { CodeSpan } from './highlight.ts'
import type { Mark } from './wordMarks.ts'

export interface MarkedSpan extends CodeSpan {
  /** Changed against the line beside. */
  readonly changed: boolean
  readonly found: 'no' | 'found' | 'current'
}

export interface LineMarks {
  readonly changed: readonly Mark[]
  readonly found: readonly Mark[]
  /** Which of `found` one is at; `null` for none. */
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

/** The beginning of coloured text. `length` in UTF-16 code units. */
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
