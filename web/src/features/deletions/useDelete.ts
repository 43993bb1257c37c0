/** Deletes for now: what it was is gone from the page, and a toast offers it back. `Deletions` tells the server. */
import { useDispatch } from 'react-redux'
import { notified } from '../notifications/notifications.ts'
import { deletionBegun, type Deletion } from './deletions.ts'
import { texts } from './texts.ts'

export function useDelete(): (kind: Deletion['kind'], id: string) => void {
  const dispatch = useDispatch()
  return (kind, id) => {
    const notice = notified('success', texts.deleted[kind])
    // First the toast: a deletion without one is due.
    dispatch(notice)
    dispatch(deletionBegun({ kind, id, noticeId: notice.payload.id }))
  }
}
