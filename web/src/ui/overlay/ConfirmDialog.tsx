/** A question with two answers: a safe one, which has the focus, and the one that does it. */
import type { ReactNode } from 'react'
import { Button } from '../form/Button.tsx'
import { Dialog } from './Dialog.tsx'

interface ConfirmDialogProps {
  readonly open?: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  /** The label of the safe answer. */
  readonly leave: string
  /** The label of the answer that does it. */
  readonly confirm: string
  /** Nothing brings back what is lost by it. */
  readonly isDangerous?: boolean
  readonly disabled?: boolean
  readonly busy?: boolean
  readonly busyLabel?: string
  /** Does it; where it is given the id of a form instead, that is submitted. */
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
    </Dialog>
  )
}
