/** Copies a text, and says whether the browser let it. */
import { useCallback } from 'react'
import { useDispatch } from 'react-redux'
import { notified } from '../notifications/notifications.ts'
import { texts } from './texts.ts'

/** `what`: said of it once it is copied. The same function at each drawing. */
export function useCopy(): (text: string, what?: string) => void {
  const dispatch = useDispatch()
  return useCallback(
    (text, what) => {
      const copy = async () => {
        // There is none where the page did not come over TLS.
        const copied = await navigator.clipboard?.writeText(text).then(
          () => true,
          () => false,
        )
        dispatch(
          copied === true
            ? notified('success', texts.toasts.copied, what)
            : notified('error', texts.toasts.notCopied),
        )
      }
      void copy()
    },
    [dispatch],
  )
}
