/** Excerpts of texts, for the rows of the timeline. */

/** The maximum length of an excerpt, in characters. */
const excerptLength = 160

/** The beginning of a text on one line; `''` for an erased text. */
export function excerpt(text: string | null | undefined): string {
  const line = (text ?? '').trim().replaceAll(/\s+/g, ' ')
  const characters = Array.from(line.slice(0, excerptLength * 2))
  if (characters.length <= excerptLength) return line
  const beginning = characters.slice(0, excerptLength - 1).join('')
  return `${beginning.trimEnd()}…`
}

/** The beginning of a Markdown text on one line, without markup; `''` for an erased text. */
export function plainExcerpt(markdown: string | null | undefined): string {
  return excerpt(plainText(markdown ?? ''))
}

/** Only this many characters at the beginning of a Markdown text are processed. */
const maxMarked = 4_000

/** The first `maxMarked` UTF-16 code units of a Markdown text, without most of the markup. Line breaks stay. */
export function plainText(markdown: string): string {
  return markdown
    .slice(0, maxMarked)
    .replaceAll(/^ {0,3}(?:```|~~~).*$/gm, '')
    .replaceAll(/^\s{0,8}(?:#{1,6}|>|[-*+]|\d{1,3}\.) +/gm, '')
    .replaceAll(/!?\[([^\]\n]{0,300})\]\([^)\s]{0,600}\)/g, '$1')
    .replaceAll(/(\*\*|__|~~|`)(?=\S)([^\n]{0,600}?\S)\1/g, '$2')
    .replaceAll(/(?<![\w*])\*(?=[^\s*])([^*\n]{0,300})\*(?![\w*])/g, '$1')
}
