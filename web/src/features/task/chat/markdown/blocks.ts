/** Prepares Markdown for the parser: growing text is split into blocks, and numbered listings of agents become code blocks. Pure. */

/** Matches Markdown that cannot be split into blocks: link definitions apply anywhere, and HTML may continue after an empty line. */
const reachesFar = /^[ \t>*+\-\d.)]*(?:\[[^\]\n]+\]:|<)/m
/** A line that starts a new block after an empty line. Indented lines and list items may continue the block before. */
const beginsBlock = /^(?![-+*](?:\s|$)|\d{1,9}[.)](?:\s|$))\S/

/**
 * Splits a text into blocks; joined, they are the text again. While a text grows, only its last block changes, so each earlier block is parsed once.
 * A list with all its items is one block.
 */
export function blocksOf(text: string): readonly string[] {
  return reachesFar.test(text) ? [text] : passagesOf(text)
}

/** Like `blocksOf`, but a link definition applies only in its own passage. */
export function passagesOf(text: string): readonly string[] {
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

/** A line of a numbered listing: `  12→text`, `12 | text` or `12<tab>text`. */
const numbered = /^ {0,8}(\d{1,6})(?:→|\t| ?[|│] ?)/

/** The text with each numbered listing of at least two lines as a code block, because Markdown would join its lines. */
export function withListings(text: string): string {
  if (!/^ {0,8}\d{1,6}(?:→|\t| ?[|│])/m.test(text)) return text
  const lines = text.split('\n')
  const out: string[] = []
  let fence: string | null = null
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (mark !== undefined && fence === null) fence = mark
    else if (mark !== undefined && fence !== null && mark.startsWith(fence)) fence = null
    const end = fence === null ? endOfListing(lines, at) : at
    if (end - at < 2) {
      out.push(line)
      continue
    }
    const listing = lines.slice(at, end)
    const ticks = '`'.repeat(1 + longestRun(listing))
    out.push(ticks, ...listing, ticks)
    at = end - 1
  }
  return out.join('\n')
}

/** The index after the last line of a listing that begins at `start`; the line numbers must be consecutive. `start` when there is no listing. */
function endOfListing(lines: readonly string[], start: number): number {
  let at = start
  let before: number | null = null
  for (; at < lines.length; at += 1) {
    const found = numbered.exec(lines[at] ?? '')
    const number = found?.[1] === undefined ? null : Number(found[1])
    if (number === null || (before !== null && number !== before + 1)) break
    before = number
  }
  return at
}

/** The length of the longest run of backticks, at least two: the fence around these lines must be longer. */
function longestRun(lines: readonly string[]): number {
  return Math.max(2, ...lines.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)))
}
