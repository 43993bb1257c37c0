/** Text that is too long is never cut: a sentence says by how much it is too long, and its form cannot be submitted. */
import { useEffect, type RefObject } from 'react'

/** A sentence that says by how many characters a text is longer than `max`; `undefined` while it fits. */
export function tooLong(text: string, max: number | undefined): string | undefined {
  if (max === undefined || text.length <= max) return undefined
  const [over, most] = [text.length - max, max].map((count) => count.toLocaleString('en-US'))
  return `Too long by ${over}: at most ${most} characters fit.`
}

/** The sentence about a text that is too long, which the browser also shows on submitting; `frame` is the element around the field. */
export function useLengthLimit(
  frame: RefObject<HTMLElement | null>,
  text: unknown,
  max: number | undefined,
): string | undefined {
  const sentence = tooLong(String(text), max)
  useEffect(() => {
    const field = frame.current?.querySelector<HTMLInputElement | HTMLTextAreaElement>('input, textarea')
    field?.setCustomValidity(sentence ?? '')
  }, [frame, sentence])
  return sentence
}
