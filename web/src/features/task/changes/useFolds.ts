/** Which files are folded, and which large ones are shown all the same. */
import { useCallback, useState } from 'react'
import type { DiffFile } from './readDiffs.ts'

export interface Folds {
  readonly isFolded: (file: DiffFile) => boolean
  /** Folds or unfolds a file by hand; `null`: it is as its tick says again. */
  readonly fold: (fileName: string, folded: boolean | null) => void
  readonly foldAll: (files: readonly DiffFile[], folded: boolean) => void
  /** Large files that somebody asked to see. */
  readonly asked: ReadonlySet<string>
  readonly ask: (fileName: string) => void
}

/** `viewed`: hashes of files that were looked at; unless somebody unfolds them they are folded. */
export function useFolds(viewed: ReadonlySet<string>): Folds {
  const [byHand, setByHand] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [asked, setAsked] = useState<ReadonlySet<string>>(new Set())
  const isFolded = useCallback(
    ({ name, hash }: DiffFile) => byHand.get(name) ?? viewed.has(hash),
    [byHand, viewed],
  )
  const fold = useCallback(
    (fileName: string, folded: boolean | null) =>
      setByHand((before) => {
        const next = new Map(before)
        if (folded === null) next.delete(fileName)
        else next.set(fileName, folded)
        return next
      }),
    [],
  )
  const foldAll = useCallback(
    (files: readonly DiffFile[], folded: boolean) =>
      setByHand(new Map(files.map(({ name }) => [name, folded]))),
    [],
  )
  const ask = useCallback((fileName: string) => setAsked((before) => new Set([...before, fileName])), [])
  return { isFolded, fold, foldAll, asked, ask }
}
