/** What is typed or pasted stays whole. A sentence says by how much it is too long, and its form cannot be sent meanwhile. */
import { useEffect, type RefObject } from 'react'

/** By how many characters a text is longer than `max`, as a sentence; `undefined` while it fits. */
export function tooLong(text: string, max: number | undefined): string | undefined {
  if (max === undefined || text.length <= max) return undefined
  const [over, most] = [text.length - max, max].map((count) => count.toLocaleString('en-US'))
  return `Too long by ${over}: at most ${most} characters fit.`
}

/** That sentence, which the browser also shows where somebody sends the form; `frame` is around the field. */
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
