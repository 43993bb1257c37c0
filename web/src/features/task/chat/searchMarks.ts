/**
 * Marks search matches on the page without changing the DOM: the browser paints highlights over the text. Without browser support nothing is marked,
 * and moving between matches does nothing.
 */
import { createContext, type RefObject, useEffect, useRef } from 'react'

interface Marks {
  readonly go: (by: -1 | 1) => void
}

const names = { all: 'found', current: 'found-current' } as const
/** The style of the marks. It is not in styles.css, because the build does not know these selectors and warns about them. */
const markStyles = [
  `::highlight(${names.all}) { background: var(--warn-bg); text-decoration: underline 1px var(--warn) }`,
  `::highlight(${names.current}) { background: var(--accent); color: var(--on-accent) }`,
]
/** More matches are not marked, since nobody goes through them one by one. */
const maxMarks = 2_000

/** Marks `words` within a box while they are searched for; blank text marks nothing. */
export function useMarks(box: RefObject<HTMLElement | null>, words: string): Marks {
  const ranges = useRef<readonly Range[]>([])
  const current = useRef<Range | null>(null)

  useEffect(() => {
    const content = box.current
    const text = words.trim()
    if (content === null || text === '' || !canMark()) return
    const sheet = new CSSStyleSheet()
    for (const look of markStyles) sheet.insertRule(look, sheet.cssRules.length)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    const mark = () => {
      ranges.current = rangesOf(content, text)
      CSS.highlights.set(names.all, new Highlight(...ranges.current))
    }
    mark()
    // Markdown and live text may be rendered after the search has started.
    const changed = new MutationObserver(mark)
    changed.observe(content, { childList: true, subtree: true, characterData: true })
    return () => {
      changed.disconnect()
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet)
      ranges.current = []
      current.current = null
      CSS.highlights.delete(names.all)
      CSS.highlights.delete(names.current)
    }
  }, [box, words])

  return {
    go(by) {
      const all = ranges.current
      if (all.length === 0) return
      const { current: before } = current
      const at = before === null ? -1 : all.findIndex((range) => samePlace(range, before))
      // Without a current match, forward starts at the first match and backward at the last.
      const next = all.at((at === -1 ? (by === 1 ? 0 : -1) : at + by) % all.length)
      if (next === undefined) return
      current.current = next
      CSS.highlights.set(names.current, new Highlight(next))
      next.startContainer.parentElement?.scrollIntoView({ block: 'nearest' })
    },
  }
}

function canMark(): boolean {
  return typeof Highlight !== 'undefined' && typeof CSS !== 'undefined' && 'highlights' in CSS
}

function samePlace(a: Range, b: Range): boolean {
  return a.startContainer === b.startContainer && a.startOffset === b.startOffset
}

/** The ranges of the words in page order, only in elements with `data-searched`. Within one of these, the words may continue in another element. */
export function rangesOf(content: HTMLElement, words: string): readonly Range[] {
  const needle = words.toLowerCase()
  const ranges: Range[] = []
  for (const block of content.querySelectorAll('[data-searched]')) {
    const nodes: { readonly node: Text; readonly from: number }[] = []
    let text = ''
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (!(node instanceof Text)) continue
      nodes.push({ node, from: text.length })
      text += node.data
    }
    const lower = text.toLowerCase()
    // Skipped, because a letter that is longer in lower case would shift all following positions.
    if (lower.length !== text.length) continue
    const placeOf = (at: number) => nodes.findLast(({ from }) => from <= at)
    for (let at = lower.indexOf(needle); at !== -1; at = lower.indexOf(needle, at + needle.length)) {
      const [start, end] = [placeOf(at), placeOf(at + needle.length - 1)]
      if (start === undefined || end === undefined) continue
      const range = document.createRange()
      range.setStart(start.node, at - start.from)
      range.setEnd(end.node, at + needle.length - end.from)
      ranges.push(range)
      if (ranges.length >= maxMarks) return ranges
    }
  }
  return ranges
}

/** The search text of the chat, trimmed; `''` for none. */
export const SearchContext = createContext('')
