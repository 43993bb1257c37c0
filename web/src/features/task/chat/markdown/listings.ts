/**
 * Agents print parts of files with line numbers. Such lines outside of a code block are wrapped in one, because Markdown would join them. Pure.
 */

/** `  12→text`, `12 | text`, `12<tab>text`. */
const numbered = /^ {0,8}(\d{1,6})(?:→|\t| ?[|│] ?)/

/** The text with each numbered listing of at least two lines in a code block. */
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

/** The index after the last line of the listing, whose numbers must be consecutive; `start` when there is none. */
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

/** The longest run of backticks, at least two: a fence must be longer than any run inside. */
function longestRun(lines: readonly string[]): number {
  return Math.max(2, ...lines.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)))
}
