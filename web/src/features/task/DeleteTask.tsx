/** Asks whether a task is to be deleted, and does it. */
import { useDispatch } from 'react-redux'
import { useNavigate } from 'react-router-dom'
import { reasonOf } from '../../api/fault.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { notified } from '../notifications/notifications.ts'
import { useDeleteTaskMutation } from './taskApi.ts'
import { texts } from './texts.ts'

interface DeleteTaskProps {
  readonly taskId: string
  readonly open: boolean
  readonly onClose: () => void
}

export function DeleteTask({ taskId, open, onClose }: DeleteTaskProps) {
  const dispatch = useDispatch()
  const navigate = useNavigate()
  const [deleteTask, { isLoading }] = useDeleteTaskMutation()
  const onConfirm = async () => {
    const answer = await deleteTask(taskId)
    onClose()
    if (answer.error !== undefined) {
      dispatch(notified('error', texts.toasts.notDeleted, reasonOf(answer.error, texts.toasts.notDeleted)))
      return
    }
    dispatch(notified('success', texts.toasts.deleted))
    void navigate('/dashboard')
  }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={texts.delete.title}
      actions={
        <>
          <Button data-safe onClick={onClose}>
            {texts.delete.keep}
          </Button>
          <Button
            kind="danger-filled"
            busy={isLoading}
            busyLabel={texts.delete.busy}
            onClick={() => void onConfirm()}
          >
            {texts.delete.confirm}
          </Button>
        </>
      }
    >
      {texts.delete.question}
    </Dialog>
  )
}
