/** Opens a task's history on request; the page loads the code for the history only then. */
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useLocation } from 'react-router-dom'
import { useAppStore } from '../../state/hooks.ts'
import { selectOpenTask } from './taskSlice.ts'
import type { HistorySession, HistoryView } from './history/historySession.ts'
import type { taskHistory } from './history/historyChunk.ts'
import type { OpenTaskSync } from './useTaskSync.ts'

interface OpenHistory {
  readonly session: HistorySession
  readonly parts: typeof taskHistory
}

export type TaskHistory = ReturnType<typeof useTaskHistory>

export function useTaskHistory(live: OpenTaskSync) {
  const store = useAppStore()
  const { pathname, search } = useLocation()
  const isLinked = pathname.endsWith('/history') || new URLSearchParams(search).has('at')
  const [state, setState] = useState<'closed' | 'requested' | 'missing'>('closed')
  const [open, setOpen] = useState<OpenHistory | null>(null)
  // Once the address has named the history, it stays open.
  if (isLinked && state === 'closed') setState('requested')
  const isRequested = state === 'requested'
  const { terminal, writing } = live
  useEffect(() => {
    const { task } = selectOpenTask(store.getState())
    if (!isRequested || task === null) return undefined
    let session: HistorySession | null = null
    let isLeft = false
    const begin = async () => {
      const { taskHistory } = await import('./history/historyChunk.ts')
      if (isLeft) return
      session = taskHistory.openSession({ task, live: store, terminal, writing })
      setOpen({ session, parts: taskHistory })
    }
    begin().catch(() => setState('missing'))
    return () => {
      isLeft = true
      session?.close()
      setOpen(null)
    }
  }, [isRequested, store, terminal, writing])
  return {
    /** Whether the address names the history or a moment of it. */
    isLinked,
    /** The open history; `null` until the history was requested and its chunk is loaded. */
    open,
    isMissing: state === 'missing',
    load: () => setState('requested'),
  }
}

const nothing = () => () => undefined

/** The moment that is shown instead of the live task; `null` while the live task is shown. */
export function useReplayMoment(open: OpenHistory | null): HistoryView['replay'] {
  return useSyncExternalStore(open?.session.subscribe ?? nothing, () => open?.session.read().replay ?? null)
}
