/** A panel that comes in from the right edge over a narrow screen; Escape, the backdrop and a chosen link close it. */
import type { ReactNode } from 'react'
import { useModal } from './Dialog.tsx'

interface SheetProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly label: string
  readonly children: ReactNode
}

export function Sheet({ open, onClose, label, children }: SheetProps) {
  const ref = useModal(open, onClose)
  return (
    <dialog
      ref={ref}
      aria-label={label}
      className="my-0 mr-0 ml-auto h-full max-h-none w-[min(320px,85vw)] bg-panel p-0 shadow-float backdrop:bg-scrim open:animate-rise"
    >
      {open && <div className="flex h-full flex-col p-3">{children}</div>}
    </dialog>
  )
}
