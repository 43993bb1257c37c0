/** The search in a task's terminal output, and its current match. */
import { useState } from 'react'
import { createFinder, type Match } from './log/findInLines.ts'
import type { TerminalLine } from './log/terminalWriter.ts'

export type TerminalFind = ReturnType<typeof useTerminalFind>

/** `topId` is the id of the first visible line, where a search begins. `reveal` scrolls to a line. */
export function useTerminalFind(
  lines: readonly TerminalLine[],
  topId: () => number,
  reveal: (id: number) => void,
) {
  const [finder] = useState(createFinder)
  const [isOpen, setIsOpen] = useState(false)
  const [words, setWords] = useState('')
  const [current, setCurrent] = useState<Match | null>(null)
  const matches = isOpen ? finder.find(lines, words) : []
  const at = current === null ? -1 : placeOf(matches, current)
  const goTo = (match: Match | undefined) => {
    setCurrent(match ?? null)
    if (match !== undefined) reveal(match.id)
  }
  return {
    isOpen,
    words,
    count: matches.length,
    /** The number of the current match, counted from 1; 0 when there is none. */
    nth: at + 1,
    current,
    open: () => setIsOpen(true),
    close() {
      setIsOpen(false)
      setCurrent(null)
    },
    search(next: string) {
      setWords(next)
      const found = finder.find(lines, next)
      const from = current?.id ?? topId()
      goTo(found.find(({ id }) => id >= from) ?? found[0])
    },
    step(by: 1 | -1) {
      if (matches.length === 0) return
      const from = topId()
      const near =
        by === 1 ? matches.findIndex(({ id }) => id >= from) : matches.findLastIndex(({ id }) => id < from)
      const next = at === -1 ? near : at + by
      goTo(matches[(next + matches.length) % matches.length])
    },
  }
}

function placeOf(matches: readonly Match[], { id, nth }: Match): number {
  let from = 0
  let to = matches.length - 1
  while (from <= to) {
    const middle = (from + to) >> 1
    const match = matches[middle]
    if (match === undefined) return -1
    if (match.id === id && match.nth === nth) return middle
    if (match.id < id || (match.id === id && match.nth < nth)) from = middle + 1
    else to = middle - 1
  }
  return -1
}
