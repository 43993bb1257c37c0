/** Asks whether a project is to be let go; a toast then offers it back for a while. */
import { useNavigate } from 'react-router-dom'
import type { Project } from '#domain/api/projects.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { useDelete } from '../deletions/useDelete.ts'
import { texts } from './texts.ts'

interface DeleteProjectProps {
  readonly project: Project
  readonly open: boolean
  readonly onClose: () => void
}

export function DeleteProject({ project, open, onClose }: DeleteProjectProps) {
  const navigate = useNavigate()
  const deleteForNow = useDelete()
  const onConfirm = () => {
    onClose()
    deleteForNow('project', project.id)
    void navigate('/projects')
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
