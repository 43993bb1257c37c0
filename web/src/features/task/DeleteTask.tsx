/** Asks whether a task is to be deleted; a toast then offers it back for a while. */
import { useNavigate } from 'react-router-dom'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { useDelete } from '../deletions/useDelete.ts'
import { texts } from './texts.ts'

interface DeleteTaskProps {
  readonly taskId: string
  readonly open: boolean
  readonly onClose: () => void
}

export function DeleteTask({ taskId, open, onClose }: DeleteTaskProps) {
  const navigate = useNavigate()
  const deleteForNow = useDelete()
  const onConfirm = () => {
    onClose()
    deleteForNow('task', taskId)
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
          <Button kind="danger-filled" onClick={onConfirm}>
            {texts.delete.confirm}
          </Button>
        </>
      }
    >
      {texts.delete.question}
    </Dialog>
  )
}
