/** Whether the page shows the task as it was at a moment of its history, for the parts that then show another time and change nothing. */
import { createContext, use } from 'react'
import type { GitDiff } from '#domain/api/tasks.schema.ts'
import { useNow } from '../../ui/hooks.ts'

export interface Replayed {
  /** The time that is shown, in ms since the epoch, to the second. */
  readonly now: number
  /** Where the latest changes were recorded: a revision of the task's stream, or `null` where there were none yet. */
  readonly changesAt: number | null
  /** The changes that were recorded there, or why they cannot be read. */
  readonly changes: (
    revision: number,
  ) => Promise<{ readonly diff: GitDiff; readonly kept: boolean } | { readonly reason: string }>
}

export const ReplayedContext = createContext<Replayed | null>(null)

/** `null` while the live task is shown. */
export const useReplayed = (): Replayed | null => use(ReplayedContext)

/** Now, as `useNow` has it; in a replay the time that is shown. */
export function useTaskNow(everyMs: number, ticking = true): number {
  const replayed = useReplayed()
  const now = useNow(everyMs, ticking && replayed === null)
  return replayed?.now ?? now
}
