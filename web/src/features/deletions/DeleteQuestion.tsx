/** The confirmation of a deletion, in a chunk that is loaded when it is opened. */
import { Suspense } from 'react'
import { optionalPart } from '../../ui/optionalPart.tsx'
import type { DeleteDialogProps } from './DeleteDialog.tsx'

const DeleteDialog = optionalPart(async () => (await import('./DeleteDialog.tsx')).DeleteDialog)

export function DeleteQuestion(props: DeleteDialogProps) {
  return (
    props.open && (
      <Suspense fallback={null}>
        <DeleteDialog {...props} onMissing={props.onClose} />
      </Suspense>
    )
  )
}
