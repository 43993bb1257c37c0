/** A sentence with clickable addresses, such as one about an organization's single sign-on. */
import { safeLink } from './safeLink.ts'

/** Punctuation at the end of a sentence is not part of an address. */
const address = /(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)])/

export function Linked({ text }: { readonly text: string }) {
  const parts = text.split(address)
  return parts.map((part, index) => {
    const to = index % 2 === 1 ? safeLink(part) : null
    return to === null ? (
      part
    ) : (
      <a
        key={parts.slice(0, index).join('').length}
        href={to}
        target="_blank"
        rel="noreferrer"
        className="wrap-anywhere underline underline-offset-2"
      >
        {part}
      </a>
    )
  })
}
