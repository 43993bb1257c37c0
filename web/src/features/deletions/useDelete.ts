/** Deletes an item in the page, with a toast that offers to undo it. `Deletions` sends it to the server later. */
import { useDispatch } from 'react-redux'
import { notified } from '../notifications/notifications.ts'
import { deletionBegun, type Deletion } from './deletions.ts'
import { texts } from './texts.ts'

export function useDelete(): (kind: Deletion['kind'], id: string) => void {
  const dispatch = useDispatch()
  return (kind, id) => {
    const notice = notified('success', texts.deleted[kind])
    // The toast comes first, because a deletion without one is sent to the server.
    dispatch(notice)
    dispatch(deletionBegun({ kind, id, noticeId: notice.payload.id }))
  }
}
