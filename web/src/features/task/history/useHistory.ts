/** Subscribes to a part of a history session's view. */
import { useSyncExternalStore } from 'react'
import type { HistorySession, HistoryView } from './historySession.ts'

/** `select` must return the same value while that part is unchanged. */
export function useHistory<Value>(session: HistorySession, select: (view: HistoryView) => Value): Value {
  return useSyncExternalStore(session.subscribe, () => select(session.read()))
}
