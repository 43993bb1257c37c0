/** Which changes of a task were looked at. A file that changes again has another hash, and so loses its tick. */
import { useCallback, useMemo } from 'react'
import { usePersisted, viewedFiles } from '../../../state/persisted.ts'

/** Tasks, and ticks of each, that are remembered; the oldest are forgotten. */
const mostTasks = 20
const mostTicks = 1_000

export function useViewed(taskId: string) {
  const [kept, keep] = usePersisted(viewedFiles)
  const viewed = useMemo(
    (): ReadonlySet<string> => new Set((kept[taskId] ?? '').split(' ').filter((hash) => hash !== '')),
    [kept, taskId],
  )
  const setViewed = useCallback(
    (hash: string, isViewed: boolean) => {
      const hashes = [...viewed].filter((other) => other !== hash)
      if (isViewed) hashes.push(hash)
      const others = Object.entries(kept).filter(([task]) => task !== taskId)
      const own = [taskId, hashes.slice(-mostTicks).join(' ')] as const
      keep(Object.fromEntries([...others.slice(1 - mostTasks), ...(hashes.length > 0 ? [own] : [])]))
    },
    [kept, keep, taskId, viewed],
  )
  return { viewed, setViewed }
}

export type Viewed = ReturnType<typeof useViewed>
