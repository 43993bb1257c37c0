/**
 * Marks words in what is on the page, without touching it: the browser draws them over the text. Where it cannot, nothing
 * is marked and going from one to the next does nothing.
 */
import { createContext, type RefObject, useEffect, useRef } from 'react'

interface Marks {
  readonly go: (by: -1 | 1) => void
}

const names = { all: 'found', current: 'found-current' } as const
/** How they look; not in styles.css, for what builds that does not know them and says so at each start. */
const looks = [
  `::highlight(${names.all}) { background: var(--warn-bg); text-decoration: underline 1px var(--warn) }`,
  `::highlight(${names.current}) { background: var(--accent); color: var(--on-accent) }`,
]
/** More than these are not marked: nobody looks at them one by one. */
const markedAtMost = 2_000

/** Marks `words` within a box for as long as they are looked for; blank ones mark nothing. */
export function useMarks(box: RefObject<HTMLElement | null>, words: string): Marks {
  const ranges = useRef<readonly Range[]>([])
  const current = useRef<Range | null>(null)

  useEffect(() => {
    const content = box.current
    const text = words.trim()
    if (content === null || text === '' || !canMark()) return
    const sheet = new CSSStyleSheet()
    for (const look of looks) sheet.insertRule(look, sheet.cssRules.length)
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
    const mark = () => {
      ranges.current = rangesOf(content, text)
      CSS.highlights.set(names.all, new Highlight(...ranges.current))
    }
    mark()
    // Markdown, and what comes live, is on the page later than the words that are looked for.
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
      // From nowhere, forwards begins with the first and backwards with the last.
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

/** Where the words stand, in the order of the page; also where a word goes on in another element. */
export function rangesOf(content: HTMLElement, words: string): readonly Range[] {
  const wanted = words.toLowerCase()
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
    // A letter that is longer in lower case would move all that follows.
    if (lower.length !== text.length) continue
    const placeOf = (at: number) => nodes.findLast(({ from }) => from <= at)
    for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, at + wanted.length)) {
      const [start, end] = [placeOf(at), placeOf(at + wanted.length - 1)]
      if (start === undefined || end === undefined) continue
      const range = document.createRange()
      range.setStart(start.node, at - start.from)
      range.setEnd(end.node, at + wanted.length - end.from)
      ranges.push(range)
      if (ranges.length >= markedAtMost) return ranges
    }
  }
  return ranges
}

/** The words that are looked for in the chat, trimmed; `''` when none are. */
export const SearchContext = createContext('')
