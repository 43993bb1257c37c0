/** A part of what a history's session knows, as it changes. */
import { useSyncExternalStore } from 'react'
import type { HistorySession, HistoryView } from './historySession.ts'

/** `select` gives the same value while that part is the same. */
export function useHistory<Value>(session: HistorySession, select: (view: HistoryView) => Value): Value {
  return useSyncExternalStore(session.subscribe, () => select(session.read()))
}
