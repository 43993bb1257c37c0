/** Copies a text, and says whether the browser let it. */
import { useDispatch } from 'react-redux'
import { notified } from '../../notifications/notifications.ts'
import { texts as taskTexts } from '../texts.ts'

export function useCopy(): (text: string) => void {
  const dispatch = useDispatch()
  const copy = async (text: string) => {
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    dispatch(
      copied ? notified('success', taskTexts.toasts.copied) : notified('error', taskTexts.toasts.notCopied),
    )
  }
  return (text) => void copy(text)
}
