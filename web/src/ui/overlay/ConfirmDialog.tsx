/** A confirmation with two answers: the safe one, which has the focus, and the one that acts. */
import type { ReactNode } from 'react'
import { Button } from '../form/Button.tsx'
import { Note } from '../layout/Note.tsx'
import { Linked } from '../text/Linked.tsx'
import { Dialog } from './Dialog.tsx'

interface ConfirmDialogProps {
  readonly open?: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  /** The label of the safe answer. */
  readonly leave: string
  /** The label of the answer that acts. */
  readonly confirm: string
  /** Whether the action takes something away, so that its button is red. */
  readonly isDangerous?: boolean
  readonly disabled?: boolean
  readonly busy?: boolean
  readonly busyLabel?: string
  /** Why the action was refused, told in the dialog: a toast is outside of it, and nothing outside of an open dialog is read out. */
  readonly error?: string | undefined
  /** The action, or the id of a form to submit. */
  readonly onConfirm: (() => void) | { readonly form: string }
}

export function ConfirmDialog({
  open = true,
  onClose,
  title,
  children,
  leave,
  confirm,
  isDangerous = false,
  onConfirm,
  error,
  ...button
}: ConfirmDialogProps) {
  const does =
    typeof onConfirm === 'function' ? { onClick: onConfirm } : { type: 'submit' as const, ...onConfirm }
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button data-safe onClick={onClose}>
            {leave}
          </Button>
          <Button kind={isDangerous ? 'danger-filled' : 'primary'} {...button} {...does}>
            {confirm}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && (
        <Note kind="error" className="mt-4 text-text">
          <Linked text={error} />
        </Note>
      )}
    </Dialog>
  )
}
