/** Copies a text, and reports the outcome as a toast. */
import { useCallback } from 'react'
import { useDispatch } from 'react-redux'
import { notified } from '../notifications/notifications.ts'
import { texts } from './texts.ts'

/** The returned function never changes; its `what` names the copied text in the toast. */
export function useCopy(): (text: string, what?: string) => void {
  const dispatch = useDispatch()
  return useCallback(
    (text, what) => {
      const copy = async () => {
        // Pages without TLS have no clipboard.
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
