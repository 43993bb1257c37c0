/** Text in which invisible characters, and those that change the writing direction, are replaced by their code points. */
import { hasHidden, shownParts } from '#domain/kernel/hiddenCharacters.ts'

const nameOf = (codePoint: string): string => `Hidden character ${codePoint}`

/** Shows a label in place of each hidden character. The character itself is not in the page, so it has no effect. */
export function HiddenMarks({ text }: { readonly text: string }) {
  if (!hasHidden(text)) return text
  return shownParts(text).map((part, index) =>
    part.kind === 'text' ? (
      part.text
    ) : (
      <span
        // The index is the key, because parts have no id.
        key={index}
        role="img"
        aria-label={nameOf(part.codePoint)}
        title={nameOf(part.codePoint)}
        className="mx-px rounded-[2px] bg-warn-bg px-0.5 text-[0.85em] text-warn ring-1 ring-warn select-none"
      >
        {part.codePoint}
      </span>
    ),
  )
}
