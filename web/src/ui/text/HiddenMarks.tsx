/** Text in which characters that are not seen, or that turn its direction, are marked by their code point. */
import { hasHidden, shownParts } from '#domain/kernel/hiddenCharacters.ts'

const nameOf = (codePoint: string): string => `Hidden character ${codePoint}`

/** A marked character is not in the page itself, so it turns nothing there. */
export function HiddenMarks({ text }: { readonly text: string }) {
  if (!hasHidden(text)) return text
  return shownParts(text).map((part, index) =>
    part.kind === 'text' ? (
      part.text
    ) : (
      <span
        // Parts have no name but their place.
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
