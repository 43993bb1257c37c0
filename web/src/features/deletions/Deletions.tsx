/** Sees to it that what was deleted is: when its toast is gone, or when the page goes away. Shows nothing. */
import { useEffect } from 'react'
import { useDispatch, useSelector, useStore } from 'react-redux'
import { useAction } from '../../actions/ActionsContext.tsx'
import { notificationClosed, notifiedFailure, selectNotifications } from '../notifications/notifications.ts'
import { useDeleteProjectMutation } from '../projects/projectsApi.ts'
import { useDeleteTaskMutation } from '../tasks/tasksApi.ts'
import {
  deletionAsked,
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
  const shown = useSelector(selectNotifications)
  const deletions = useSelector(selectDeletions)
  const [deleteTask] = useDeleteTaskMutation()
  const [deleteProject] = useDeleteProjectMutation()

  useEffect(() => {
    const ask = async ({ kind, id }: Deletion) => {
      dispatch(deletionAsked(id))
      const { error } = await (kind === 'task' ? deleteTask(id) : deleteProject(id))
      // What is not there any more is what was wanted.
      if (error === undefined || ('status' in error && error.status === 404)) return
      dispatch(deletionEnded(id))
      dispatch(notifiedFailure(texts.failed[kind], error))
    }
    for (const deletion of deletions) {
      const canBeUndone = shown.some(({ id }) => id === deletion.noticeId)
      if (!deletion.asked && !canBeUndone) void ask(deletion)
    }
  }, [deletions, shown, dispatch, deleteTask, deleteProject])

  useEffect(() => {
    const onLeave = () => sendDeletions(store)
    window.addEventListener('pagehide', onLeave)
    return () => window.removeEventListener('pagehide', onLeave)
  }, [store])

  const last = deletions.findLast(({ asked }) => !asked)
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
