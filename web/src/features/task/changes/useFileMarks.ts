/** Marks of changed files: which are collapsed, which are viewed, and which large files are shown because somebody asked for them. */
import { useCallback, useMemo, useState } from 'react'
import { recall, viewedFiles } from '../../../state/persisted.ts'
import { usePersisted } from '../../../state/usePersisted.ts'
import type { DiffFile } from './diff/readDiffs.ts'

export type Folds = ReturnType<typeof useFolds>

/** Which files are collapsed. `viewed` has the hashes of viewed files, which are collapsed unless somebody expands them. */
export function useFolds(viewed: ReadonlySet<string>) {
  const [byHand, setByHand] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [requested, setRequested] = useState<ReadonlySet<string>>(new Set())
  const isFolded = useCallback(
    ({ name, hash }: DiffFile) => byHand.get(name) ?? viewed.has(hash),
    [byHand, viewed],
  )
  /** Collapses or expands a file by hand; `null` makes it follow its viewed mark again. */
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
  const request = useCallback(
    (fileName: string) => setRequested((before) => new Set([...before, fileName])),
    [],
  )
  return { isFolded, fold, foldAll, requested, request }
}

/** How many tasks, and how many marks per task, are remembered; the oldest are dropped. */
const maxTasks = 20
const maxMarks = 1_000

/** The viewed changes of a task, by hash: a file that changes again has another hash, and so loses its mark. */
export function useViewed(taskId: string) {
  const [kept, keep] = usePersisted(viewedFiles)
  const viewed = useMemo((): ReadonlySet<string> => new Set(hashesIn(kept, taskId)), [kept, taskId])
  const setViewed = useCallback(
    (hash: string, isViewed: boolean) => {
      // Another tab may have kept marks meanwhile.
      const now = { ...kept, ...recall(viewedFiles) }
      const hashes = hashesIn(now, taskId).filter((other) => other !== hash)
      if (isViewed) hashes.push(hash)
      const others = Object.entries(now).filter(([task]) => task !== taskId)
      const own = [taskId, hashes.slice(-maxMarks).join(' ')] as const
      keep(Object.fromEntries([...others.slice(1 - maxTasks), ...(hashes[0] ? [own] : [])]))
    },
    [kept, keep, taskId],
  )
  return { viewed, setViewed }
}

const hashesIn = (kept: Readonly<Record<string, string>>, taskId: string): readonly string[] =>
  (kept[taskId] ?? '').split(' ').filter(Boolean)

export type Viewed = ReturnType<typeof useViewed>
