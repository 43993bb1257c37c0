/**
 * A dialog has a title, a sentence, and buttons at the right with the focus on the safe one; a sheet is a panel at the side. Both use the browser's
 * modal dialog, which traps the focus, makes the page inert and closes on Escape.
 */
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react'
import { useStable } from '../hooks.ts'

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly children: ReactNode
  /** The buttons. The button marked `data-safe` gets the focus. */
  readonly actions: ReactNode
}

export function Dialog({ open, onClose, title, children, actions }: DialogProps) {
  const titleId = useId()
  const ref = useModal(open, onClose)
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      className="m-auto w-[min(440px,calc(100vw-32px))] rounded-panel bg-panel p-0 shadow-float backdrop:bg-scrim open:animate-rise"
    >
      {open && (
        <div className="p-5">
          <h2 id={titleId} className="text-title font-semibold">
            {title}
          </h2>
          <div className="mt-1 text-body text-muted">{children}</div>
          <div className="mt-5 flex flex-wrap justify-end gap-2 max-md:[&_button]:h-11">{actions}</div>
        </div>
      )}
    </dialog>
  )
}

/**
 * Opens and closes a `<dialog>` as a modal according to `open`; Escape and a click on the backdrop request closing. The focus returns to where it
 * was, even when the dialog is unmounted.
 */
export function useModal(open: boolean, onClose: () => void) {
  const ref = useRef<HTMLDialogElement>(null)
  const close = useStable(onClose)
  useEffect(() => {
    const dialog = ref.current
    if (dialog === null) return
    if (open && !dialog.open) {
      dialog.showModal()
      // The safe button gets the focus, because no dangerous action may be one keystroke away.
      dialog.querySelector<HTMLElement>('[data-safe]')?.focus()
    }
    if (!open && dialog.open) dialog.close()
  }, [open])
  useLayoutEffect(() => {
    const dialog = ref.current
    // Closes the dialog before it is removed: the browser only restores the focus for a dialog that is still in the page.
    return () => {
      if (dialog?.open === true) dialog.close()
    }
  }, [])
  useEffect(() => {
    const dialog = ref.current
    if (dialog === null) return
    // Only a click outside of the content has the dialog itself as its target. If its press was inside, the click only ended a text selection.
    let pressed: EventTarget | null = null
    const onPress = (event: PointerEvent) => {
      pressed = event.target
    }
    const onClick = (event: MouseEvent) => {
      if (event.target === dialog && pressed === dialog) close()
    }
    const unmounted = new AbortController()
    const { signal } = unmounted
    dialog.addEventListener('close', () => close(), { signal })
    dialog.addEventListener('pointerdown', onPress, { signal })
    dialog.addEventListener('click', onClick, { signal })
    return () => unmounted.abort()
  }, [close])
  return ref
}

/** A panel at the right edge of a narrow screen. Escape and a click on the backdrop request closing. */
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
