/** The search in the changes, and its current match. */
import { useDeferredValue, useMemo, useState } from 'react'
import { hunksShown, type KnownLines } from './diff/diffRows.ts'
import { findInDiff, type Match } from './diff/findInDiff.ts'
import type { DiffFile } from './diff/readDiffs.ts'

interface Find {
  readonly wanted: string
  readonly setWanted: (wanted: string) => void
  /** The text that is marked: it follows the input when there is time. */
  readonly sought: string
  readonly count: number
  readonly at: number
  readonly match: Match | null
  /** Moves to the next or previous match, wrapping around, and returns it. */
  readonly step: (by: 1 | -1) => Match | null
}

export function useFind(
  files: readonly DiffFile[],
  known: ReadonlyMap<string, KnownLines>,
  open: boolean,
): Find {
  const [wanted, setWanted] = useState('')
  const [chosen, setChosen] = useState(0)
  // Rendering the marks must not slow down typing.
  const sought = useDeferredValue(open ? wanted : '')
  const matches = useMemo(() => {
    if (sought === '') return []
    const shown = files.map((file) => ({ name: file.name, hunks: hunksShown(file, known.get(file.name)) }))
    return findInDiff(shown, sought)
  }, [files, known, sought])
  const at = Math.min(chosen, Math.max(0, matches.length - 1))
  return {
    wanted,
    setWanted: (next) => {
      setWanted(next)
      setChosen(0)
    },
    sought,
    count: matches.length,
    at,
    match: matches[at] ?? null,
    step: (by) => {
      const next = matches.length === 0 ? 0 : (at + by + matches.length) % matches.length
      setChosen(next)
      return matches[next] ?? null
    },
  }
}
