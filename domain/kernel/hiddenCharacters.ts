/** Finds characters that can make a line look different from its content: invisible characters, and characters that change the writing direction. */

/** Visible text, or one hidden character by its code point (`U+202E`). */
export type ShownPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hidden'; readonly codePoint: string }

/**
 * All characters that Unicode says to show nothing for, and the marks of annotations. Joiners are part of words in many scripts and of emoji, so they
 * count only between ASCII characters. A variation selector does not count after an emoji, an ideograph or a Mongolian letter, whose form it chooses.
 */
const hidden =
  /(?![\u200C\u200D\p{VS}])[\p{DI}\uFFF9-\uFFFB]|(?<=[\u0020-\u007E])[\u200C\u200D](?=[\u0020-\u007E])|(?<![\p{ExtPict}\p{Ideo}\p{sc=Mong}]|[#*0-9](?=\uFE0F\u20E3))\p{VS}/gu

export function hasHidden(text: string): boolean {
  return text.search(hidden) !== -1
}

/** Splits the text into visible parts and single hidden characters, in order. */
export function shownParts(text: string): readonly ShownPart[] {
  const parts: ShownPart[] = []
  let at = 0
  for (const match of text.matchAll(hidden)) {
    if (match.index > at) parts.push({ kind: 'text', text: text.slice(at, match.index) })
    const code = match[0].codePointAt(0) ?? 0
    parts.push({ kind: 'hidden', codePoint: `U+${code.toString(16).toUpperCase().padStart(4, '0')}` })
    at = match.index + match[0].length
  }
  if (at < text.length) parts.push({ kind: 'text', text: text.slice(at) })
  return parts
}
