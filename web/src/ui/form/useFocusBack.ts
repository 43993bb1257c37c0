/** The focus of a form that is shown in the place of the button that opened it, which would otherwise be lost with whichever is taken out. */
import { type RefObject, useEffect, useRef } from 'react'

/**
 * Gives the focus back once the form is closed: to the element whose `data-opens` is the name that `opened` had or, if there is none by then, to
 * `otherwise`. `opened` is `null` while no form is open.
 */
export function useFocusBack(opened: string | null, otherwise?: RefObject<HTMLElement | null>): void {
  const last = useRef(opened)
  useEffect(() => {
    const closed = opened === null ? last.current : null
    last.current = opened
    if (closed === null) return
    const openers = [...document.querySelectorAll<HTMLElement>('[data-opens]')]
    const opener = openers.find(({ dataset }) => dataset['opens'] === closed)
    ;(opener ?? otherwise?.current)?.focus()
  }, [opened, otherwise])
}

/** The ref of a form that opens in place: its first field gets the focus. */
export function focusFirstField(form: HTMLFormElement | null): void {
  form?.querySelector('input')?.focus()
}
