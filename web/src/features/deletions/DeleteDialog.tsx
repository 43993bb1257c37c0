/** Confirms a deletion. Afterwards a toast offers to undo it for a while. */
import { useNavigate } from 'react-router-dom'
import { useDispatch } from 'react-redux'
import { ConfirmDialog } from '../../ui/overlay/ConfirmDialog.tsx'
import { type Deletion, deletionBegun } from './deletions.ts'
import { notified } from '../notifications/notifications.ts'
import { texts } from './texts.ts'

export interface DeleteDialogProps {
  readonly kind: Deletion['kind']
  readonly id: string
  readonly words: {
    readonly title: string
    readonly question: string
    readonly goes: string
    readonly keep: string
    readonly confirm: string
  }
  readonly open: boolean
  readonly onClose: () => void
}

/** The page that is opened after a deletion. */
const pagesAfter: Record<Deletion['kind'], string> = { task: '/dashboard', project: '/projects' }

export function DeleteDialog({ kind, id, words, open, onClose }: DeleteDialogProps) {
  const navigate = useNavigate()
  const deleteForNow = useDelete()
  const onConfirm = () => {
    onClose()
    deleteForNow(kind, id)
    void navigate(pagesAfter[kind])
  }
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title={words.title}
      leave={words.keep}
      confirm={words.confirm}
      isDangerous
      onConfirm={onConfirm}
    >
      <p>{words.question}</p>
      <p className="mt-2">{words.goes}</p>
    </ConfirmDialog>
  )
}

/** Hides an item at once and shows a toast that offers to undo this. `Deletions` sends the deletion to the server later. */
export function useDelete(): (kind: Deletion['kind'], id: string) => void {
  const dispatch = useDispatch()
  return (kind, id) => {
    const notice = notified('success', texts.deleted[kind])
    // The toast comes first, because `Deletions` sends a deletion to the server at once if it has no toast.
    dispatch(notice)
    dispatch(deletionBegun({ kind, id, noticeId: notice.payload.id }))
  }
}
