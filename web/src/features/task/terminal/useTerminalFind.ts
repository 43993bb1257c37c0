/** Searching in the output: what is searched for, where it stands, and which place was gone to. */
import { useState } from 'react'
import { createFinder, type Match } from './log/findInLines.ts'
import type { TerminalLine } from './log/terminalWriter.ts'

export interface TerminalFind {
  readonly isOpen: boolean
  readonly words: string
  readonly count: number
  /** How manieth place was gone to, from 1; 0 for none. */
  readonly nth: number
  readonly current: Match | null
  open(): void
  close(): void
  search(words: string): void
  step(by: 1 | -1): void
}

/** `topId`: the id of the first line in sight, where a search begins. `reveal` brings a line into sight. */
export function useTerminalFind(
  lines: readonly TerminalLine[],
  topId: () => number,
  reveal: (id: number) => void,
): TerminalFind {
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
    nth: at + 1,
    current,
    open: () => setIsOpen(true),
    close() {
      setIsOpen(false)
      setCurrent(null)
    },
    search(next) {
      setWords(next)
      const found = finder.find(lines, next)
      const from = current?.id ?? topId()
      goTo(found.find(({ id }) => id >= from) ?? found[0])
    },
    step(by) {
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
