import { useSyncExternalStore } from 'react'
import type { HistorySession, HistoryView } from './historySession.ts'

/** A part of a session's view. `select` must return the same value while that part is unchanged. */
export function useHistory<Value>(session: HistorySession, select: (view: HistoryView) => Value): Value {
  return useSyncExternalStore(session.subscribe, () => select(session.read()))
}
