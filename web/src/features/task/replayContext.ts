/** Tells components that the page shows a moment of the task's history. They then use the time of that moment, and do not change the task. */
import { useSelector } from 'react-redux'
import { createContext, use, type ComponentType, type ReactNode } from 'react'
import type { GitDiff, Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
import { selectLive } from '../../live/connection.ts'
import { useNow } from '../../ui/hooks.ts'

export interface Replayed {
  /** The shown time, in milliseconds since 1970, rounded down to the second. */
  readonly now: number
  /** The revision of the task's stream at which the latest changes were recorded; `null` when there were none yet. */
  readonly changesAt: number | null
  /** Reads the changes that were recorded at `revision`; resolves to the reason when they cannot be read. */
  readonly changes: (
    revision: number,
  ) => Promise<{ readonly diff: GitDiff; readonly kept: boolean } | { readonly reason: string }>
  /** The component that replaces the composer. */
  readonly Dock: ComponentType<{ readonly queue: readonly MessageDocument[] }>
  /** The component that replaces the current changes. */
  readonly Changes: ComponentType<RecordedChangesProps>
  /** `true` in a saved replay, which has neither a server nor a live task. */
  readonly isSaved?: true
}

export interface CodeChangesProps {
  readonly task: Task
  /** Reads the task's history again. */
  readonly reload: () => void
  readonly visible: boolean
  /** The element that gets the panel's buttons; `null` when they are in the panel's own bar. */
  readonly tools: HTMLElement | null
}

export interface RecordedChangesProps extends CodeChangesProps {
  readonly replayed: Replayed
  /** The component that shows the changes, the same as in the live task. */
  readonly Panel: ComponentType<ChangesPanelProps>
}

export interface ChangesPanelProps extends CodeChangesProps {
  readonly diff: GitDiff
  readonly refreshing: boolean
  readonly onRefresh: () => void
  /** Reports whether somebody reads or works in the list. While somebody does, nothing in it may move. */
  readonly onReading: (reading: boolean) => void
  readonly notes: ReactNode
}

export const ReplayContext = createContext<Replayed | null>(null)

/** The replayed moment; `null` while the live task is shown. */
export const useReplayed = (): Replayed | null => use(ReplayContext)

/** The current time, like `useNow`; in a replay, the shown time. */
export function useTaskNow(intervalMs: number, ticking = true): number {
  const replayed = useReplayed()
  const now = useNow(intervalMs, ticking && replayed === null)
  return replayed?.now ?? now
}

/** The current time, updated every second. It stops while the page is offline, since the turn or command whose duration is shown may have ended. */
export function useTaskSeconds(): number {
  return useTaskNow(1_000, useSelector(selectLive))
}
