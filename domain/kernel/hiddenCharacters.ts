/** Finds characters that can make a line look different from its content: invisible characters, and characters that change the writing direction. */

/** Visible text, or one hidden character by its code point (`U+202E`). */
export type ShownPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'hidden'; readonly codePoint: string }

/** Joiners are part of words in many scripts and of emoji, so they count as hidden only between ASCII characters. */
const hidden =
  /[\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0]|[\u{E0000}-\u{E007F}]|(?<=[\u0020-\u007E])[\u200C\u200D](?=[\u0020-\u007E])/gu

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
