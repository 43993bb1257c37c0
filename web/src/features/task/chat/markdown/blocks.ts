/**
 * Splits growing Markdown into pieces that can be parsed separately: an addition only changes the last one, and the others are parsed once. Pure.
 */

/** Link definitions apply anywhere, and HTML may continue after an empty line: such text must be parsed as a whole. */
const reachesFar = /^[ \t>*+\-\d.)]*(?:\[[^\]\n]+\]:|<)/m
/** A line that, after an empty line, starts a new block. Indented lines and list items may continue the block before. */
const beginsBlock = /^(?![-+*](?:\s|$)|\d{1,9}[.)](?:\s|$))\S/

/** The blocks of a text in order; joined, they are the text. A list with all its items is one block. */
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

/** The fence of the code block that is still open after a line. */
function fenceAfter(line: string, open: string | null): string | null {
  const [, mark, rest = ''] = /^ {0,3}(`{3,}|~{3,})(.*)/.exec(line) ?? []
  if (mark === undefined) return open
  if (open === null) return mark.startsWith('`') && rest.includes('`') ? null : mark
  return mark.startsWith(open) && rest.trim() === '' ? null : open
}
