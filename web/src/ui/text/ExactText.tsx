/** Text that a person decides about: every character that a page would not show is visible, control characters as escapes. */
import { HiddenMarks } from './HiddenMarks.tsx'

export function ExactText({ text }: { readonly text: string }) {
  return <HiddenMarks text={withEscapes(text)} />
}

const withEscapes = (text: string): string =>
  text.replaceAll(
    /[^\P{Cc}\n\t]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
