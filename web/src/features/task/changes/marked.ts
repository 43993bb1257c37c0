/** Lays marks over the coloured spans of a line. Pure. */
import type { CodeSpan } from './highlight.ts'
import type { Mark } from './wordMarks.ts'

export interface MarkedSpan extends CodeSpan {
  readonly marked: boolean
}

export function marked(spans: readonly CodeSpan[], marks: readonly Mark[]): readonly MarkedSpan[] {
  const edges = marks.flatMap(({ from, to }) => [from, to])
  const result: MarkedSpan[] = []
  let at = 0
  for (const { text, className } of spans) {
    const start = at
    const inside = edges.filter((edge) => edge > start && edge < start + text.length)
    const cuts = [start, ...inside, start + text.length]
    cuts.slice(1).forEach((to, index) => {
      const from = cuts[index] ?? start
      const isMarked = marks.some((mark) => mark.from <= from && to <= mark.to)
      result.push({ text: text.slice(from - start, to - start), className, marked: isMarked })
    })
    at += text.length
  }
  return result
}
