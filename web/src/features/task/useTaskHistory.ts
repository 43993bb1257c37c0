/** Opens a task's history when somebody wants it; the page loads what that needs only then. */
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useLocation } from 'react-router-dom'
import { useAppStore } from '../../state/hooks.ts'
import { selectOpenTask } from './taskSlice.ts'
import type { HistorySession, HistoryView } from './history/historySession.ts'
import type { taskHistory } from './history/taskHistory.ts'
import type { OpenTaskSync } from './useTaskSync.ts'

export interface OpenHistory {
  readonly session: HistorySession
  readonly parts: typeof taskHistory
}

export interface TaskHistory {
  /** The address asks for it. */
  readonly isAsked: boolean
  /** `null` until it is wanted and its parts are loaded. */
  readonly open: OpenHistory | null
  /** Its parts could not be loaded. */
  readonly isMissing: boolean
  readonly want: () => void
}

export function useTaskHistory(live: OpenTaskSync): TaskHistory {
  const store = useAppStore()
  const { pathname, search } = useLocation()
  const isAsked = pathname.endsWith('/history') || new URLSearchParams(search).has('at')
  const [state, setState] = useState<'unwanted' | 'wanted' | 'missing'>('unwanted')
  const [open, setOpen] = useState<OpenHistory | null>(null)
  // It stays open when the address no longer asks for it.
  if (isAsked && state === 'unwanted') setState('wanted')
  const isWanted = state === 'wanted'
  const { terminal, writing } = live
  useEffect(() => {
    const { task } = selectOpenTask(store.getState())
    if (!isWanted || task === null) return undefined
    let session: HistorySession | null = null
    let isLeft = false
    const begin = async () => {
      const { taskHistory } = await import('./history/taskHistory.ts')
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
  }, [isWanted, store, terminal, writing])
  return { isAsked, open, isMissing: state === 'missing', want: () => setState('wanted') }
}

const nothing = () => () => undefined

/** The moment that is shown in place of the live task; `null` while that is shown. */
export function useReplayMoment(open: OpenHistory | null): HistoryView['replay'] {
  return useSyncExternalStore(open?.session.subscribe ?? nothing, () => open?.session.read().replay ?? null)
}
