/** Shows a text that a person decides about. Characters that a page would not show become visible; controls except tabs and line feeds as escapes. */
import { HiddenMarks } from './HiddenMarks.tsx'

export function ExactText({ text }: { readonly text: string }) {
  return <HiddenMarks text={withEscapes(text)} />
}

const withEscapes = (text: string): string =>
  text.replaceAll(
    /[^\P{Cc}\n\t]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
