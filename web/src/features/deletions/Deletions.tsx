/** Sends deletions to the server when their toasts are gone or the page is closed, and offers to undo the latest one. Renders nothing. */
import { useEffect } from 'react'
import { useDispatch, useSelector, useStore } from 'react-redux'
import { useAction } from '../../actions/ActionsContext.tsx'
import { useWindowEvent } from '../../ui/hooks.ts'
import { notificationClosed, notifiedFailure, selectNotifications } from '../notifications/notifications.ts'
import { useDeleteProjectMutation } from '../projects/projectsApi.ts'
import { useDeleteTaskMutation } from '../tasks/tasksApi.ts'
import {
  deletionSent,
  deletionEnded,
  selectDeletions,
  type Deletion,
  type WithDeletions,
} from './deletions.ts'
import { sendDeletions } from './sendDeletions.ts'
import { texts } from './texts.ts'

export function Deletions() {
  const store = useStore<WithDeletions>()
  const dispatch = useDispatch()
  const notices = useSelector(selectNotifications)
  const deletions = useSelector(selectDeletions)
  const [deleteTask] = useDeleteTaskMutation()
  const [deleteProject] = useDeleteProjectMutation()

  useEffect(() => {
    const send = async ({ kind, id }: Deletion) => {
      dispatch(deletionSent(id))
      const { error } = await (kind === 'task' ? deleteTask(id) : deleteProject(id))
      // An item that the server no longer knows counts as deleted.
      if (error === undefined || ('status' in error && error.status === 404)) return
      dispatch(deletionEnded(id))
      dispatch(notifiedFailure(texts.failed[kind], error))
    }
    for (const deletion of deletions) {
      const canBeUndone = notices.some(({ id }) => id === deletion.noticeId)
      if (!deletion.isSent && !canBeUndone) void send(deletion)
    }
  }, [deletions, notices, dispatch, deleteTask, deleteProject])

  useWindowEvent('pagehide', () => sendDeletions(store))

  const last = deletions.findLast(({ isSent }) => !isSent)
  useAction(
    'undoDelete',
    () => {
      if (last === undefined) return
      dispatch(deletionEnded(last.id))
      dispatch(notificationClosed(last.noticeId))
    },
    last !== undefined,
  )
  return null
}
