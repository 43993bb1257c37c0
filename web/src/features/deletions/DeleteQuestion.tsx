/** The confirmation of a deletion, in a chunk that is loaded when it first opens. */
import { lazy, Suspense, useState } from 'react'
import type { DeleteDialogProps } from './DeleteDialog.tsx'

const DeleteDialog = lazy(async () => ({ default: (await import('./DeleteDialog.tsx')).DeleteDialog }))

export function DeleteQuestion(props: DeleteDialogProps) {
  const [wasOpened, setOpened] = useState(props.open)
  if (props.open && !wasOpened) setOpened(true)
  return wasOpened ? (
    <Suspense fallback={null}>
      <DeleteDialog {...props} />
    </Suspense>
  ) : null
}
