/**
 * Markdown that grows, in pieces that can be read by themselves: what is added changes only the last, and the others are read
 * only once. Pure.
 */

/** A name that is defined here and used anywhere, or HTML, which may go on after an empty line: only the whole says what it is. */
const reachesFar = /^[ \t>*+\-\d.)]*(?:\[[^\]\n]+\]:|<)/m
/** After an empty line it belongs to nothing before it. What is indented, or an item of a list, may go on with that. */
const beginsBlock = /^(?![-+*](?:\s|$)|\d{1,9}[.)](?:\s|$))\S/

/** The blocks of a text, in order; together they are the text. A list with all its items is one. */
export function blocksOf(text: string): readonly string[] {
  if (reachesFar.test(text)) return [text]
  const blocks: string[] = []
  let start = 0
  let fence: string | null = null
  let afterEmpty = false
  for (let at = 0; at < text.length;) {
    const lineBreak = text.indexOf('\n', at)
    const next = lineBreak === -1 ? text.length : lineBreak + 1
    const line = text.slice(at, next)
    if (afterEmpty && beginsBlock.test(line)) {
      blocks.push(text.slice(start, at))
      start = at
    }
    fence = fenceAfter(line, fence)
    afterEmpty = fence === null && line.trim() === ''
    at = next
  }
  return [...blocks, text.slice(start)]
}

/** The fence of the code that is open after a line. */
function fenceAfter(line: string, open: string | null): string | null {
  const [, mark, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line) ?? []
  if (mark === undefined) return open
  if (open === null) return mark.startsWith('`') && rest.includes('`') ? null : mark
  return mark.startsWith(open) && rest.trim() === '' ? null : open
}
