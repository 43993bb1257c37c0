/** Hides whitespace-only changes. The code for that is loaded when it is first needed. */
import { useMemo, useState } from 'react'
import type { DiffFile } from './diff/readDiffs.ts'

type Quieten = (files: readonly DiffFile[]) => readonly DiffFile[]

export function useWhitespace(read: readonly DiffFile[]) {
  const [wanted, setWanted] = useState(false)
  const [quieten, setQuieten] = useState<Quieten | null>(null)
  const quiet = wanted && quieten !== null
  const files = useMemo(() => (wanted && quieten !== null ? quieten(read) : read), [read, wanted, quieten])
  const setQuiet = (hidden: boolean) => {
    setWanted(hidden)
    if (!hidden || quieten !== null) return
    import('./diff/whitespace.ts').then(
      ({ quietDiffs }) => setQuieten(() => quietDiffs),
      () => setWanted(false),
    )
  }
  return { quiet, setQuiet, files }
}
