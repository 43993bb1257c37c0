/** Asks whether something is to be deleted, by a dialog that is loaded when it is first asked. */
import { lazy, Suspense, useState } from 'react'
import type { DeleteQuestionProps } from './DeleteDialog.tsx'

const DeleteDialog = lazy(async () => ({ default: (await import('./DeleteDialog.tsx')).DeleteDialog }))

export function DeleteQuestion(props: DeleteQuestionProps) {
  const [asked, setAsked] = useState(props.open)
  if (props.open && !asked) setAsked(true)
  return asked ? (
    <Suspense fallback={null}>
      <DeleteDialog {...props} />
    </Suspense>
  ) : null
}
