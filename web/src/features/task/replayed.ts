/** Whether the page shows the task as it was at a moment of its history, for the parts that then show another time and change nothing. */
import { createContext, use, type ComponentType, type ReactNode } from 'react'
import type { GitDiff, Task } from '#domain/api/tasks.schema.ts'
import type { MessageDocument } from '#domain/views/chat.ts'
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
  /** In place of the composer. */
  readonly Dock: ComponentType<{ readonly queue: readonly MessageDocument[] }>
  /** In place of the changes that are there now. */
  readonly Changes: ComponentType<RecordedChangesProps>
  /** It is a file that somebody saved: there is no server to ask, and no live task. */
  readonly isSaved?: true
}

export interface CodeChangesProps {
  readonly task: Task
  /** Reads the task's history again. */
  readonly reload: () => void
  /** Whether this panel is the visible one. */
  readonly shown: boolean
  /** Where the buttons of the panel stand; `null`: in its own bar. */
  readonly tools: HTMLElement | null
}

export interface RecordedChangesProps extends CodeChangesProps {
  readonly replayed: Replayed
  /** Shows changes: the live task's own panel. */
  readonly Panel: ComponentType<
    CodeChangesProps & {
      readonly diff: GitDiff
      readonly refreshing: boolean
      readonly onRefresh: () => void
      readonly onReading: (reading: boolean) => void
      readonly notes: ReactNode
    }
  >
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
