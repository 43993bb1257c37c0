/** The search in the changes, and its current match. */
import { useDeferredValue, useMemo, useState } from 'react'
import { hunksShown, type KnownLines } from './diff/diffRows.ts'
import { findInDiff, type Match } from './diff/findInDiff.ts'
import type { DiffFile } from './diff/readDiffs.ts'

export function useFind(files: readonly DiffFile[], known: ReadonlyMap<string, KnownLines>, open: boolean) {
  const [words, setWords] = useState('')
  const [chosen, setChosen] = useState(0)
  // Rendering the marks must not slow down typing.
  const sought = useDeferredValue(open ? words : '')
  const matches = useMemo(() => {
    if (sought === '') return []
    const shown = files.map((file) => ({ name: file.name, hunks: hunksShown(file, known.get(file.name)) }))
    return findInDiff(shown, sought)
  }, [files, known, sought])
  const at = Math.min(chosen, Math.max(0, matches.length - 1))
  return {
    words,
    setWords: (next: string) => {
      setWords(next)
      setChosen(0)
    },
    /** The text that is marked: it follows the input when there is time. */
    sought,
    count: matches.length,
    at,
    match: matches[at] ?? null,
    /** Moves to the next or previous match, wrapping around, and returns it. */
    step: (by: 1 | -1): Match | null => {
      const next = matches.length === 0 ? 0 : (at + by + matches.length) % matches.length
      setChosen(next)
      return matches[next] ?? null
    },
  }
}
