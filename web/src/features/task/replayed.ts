/** Tells components that the page shows a moment of the task's history: they then use that time and change nothing. */
import { useSelector } from 'react-redux'
import { createContext, use, type ComponentType, type ReactNode } from 'react'
import type { GitDiff, Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { selectLive } from '../../live/connection.ts'
import { useNow } from '../../ui/hooks.ts'

export interface Replayed {
  /** The shown time, in ms since the epoch, rounded down to the second. */
  readonly now: number
  /** The revision of the task's stream at which the latest changes were recorded; `null` when there were none yet. */
  readonly changesAt: number | null
  /** The changes recorded there, or why they cannot be read. */
  readonly changes: (
    revision: number,
  ) => Promise<{ readonly diff: GitDiff; readonly kept: boolean } | { readonly reason: string }>
  /** Replaces the composer. */
  readonly Dock: ComponentType<{ readonly queue: readonly MessageDocument[] }>
  /** Replaces the current changes. */
  readonly Changes: ComponentType<RecordedChangesProps>
  /** Set in a saved replay, which has neither a server nor a live task. */
  readonly isSaved?: true
}

export interface CodeChangesProps {
  readonly task: Task
  /** Reads the task's history again. */
  readonly reload: () => void
  readonly visible: boolean
  /** Where to put the panel's buttons; `null`: in its own bar. */
  readonly tools: HTMLElement | null
}

export interface RecordedChangesProps extends CodeChangesProps {
  readonly replayed: Replayed
  /** The live task's panel, which shows the changes. */
  readonly Panel: ComponentType<ChangesPanelProps>
}

export interface ChangesPanelProps extends CodeChangesProps {
  readonly diff: GitDiff
  readonly refreshing: boolean
  readonly onRefresh: () => void
  /** Called with whether somebody reads or works in the list, because nothing may move then. */
  readonly onReading: (reading: boolean) => void
  /** Notes above the list. */
  readonly notes: ReactNode
}

export const ReplayedContext = createContext<Replayed | null>(null)

/** `null` while the live task is shown. */
export const useReplayed = (): Replayed | null => use(ReplayedContext)

/** The current time like `useNow`; in a replay the shown time. */
export function useTaskNow(intervalMs: number, ticking = true): number {
  const replayed = useReplayed()
  const now = useNow(intervalMs, ticking && replayed === null)
  return replayed?.now ?? now
}

/** The time to the second; it stops while the page is offline, since what it measures may have ended. */
export function useTaskSeconds(): number {
  return useTaskNow(1_000, useSelector(selectLive))
}
