/** Makes a message to the agent from a comment on lines of a diff: a quotation with the file and the lines, then the comment. Pure. */
import type { DiffLine } from './diff/parseDiff.ts'

/** The most lines of a quotation, and the most characters of all its lines together; further lines are only counted. */
const maxLines = 120
const maxCharacters = 12_000

const signs = { context: ' ', added: '+', deleted: '-' } as const

/**
 * The message, in Markdown. Nothing in a name or a line can end the quote or the code in it: fences and code spans are longer
 * than any run of backticks inside, and characters that end a line are written out.
 */
export function commentMessage(fileName: string, lines: readonly DiffLine[], comment: string): string {
  return `${quoteOf(fileName, lines)}\n\n${comment.trim()}`
}

/** The quotation without the comment. Its length limits how long the comment may be. */
export function quoteOf(fileName: string, lines: readonly DiffLine[]): string {
  const { place, isBefore } = placeOf(lines)
  const quoted: string[] = []
  let room = maxCharacters
  for (const line of lines.slice(0, maxLines)) {
    const text = `${signs[line.kind]}${oneLine(line.text)}`
    room -= text.length
    if (room < 0) break
    quoted.push(text)
  }
  const left = lines.length - quoted.length
  const fence = '`'.repeat(Math.max(3, longestRun(quoted.join('\n')) + 1))
  return [
    `${codeSpan(`${oneLine(fileName)}:${place}`)}${isBefore ? ' (old)' : ''}`,
    '',
    `${fence}diff`,
    ...quoted,
    fence,
    ...(left > 0 ? ['', `and ${left} more ${left === 1 ? 'line' : 'lines'}`] : []),
  ]
    .map((row) => (row === '' ? '>' : `> ${row}`))
    .join('\n')
}

/** `45` or `40-45`: the new line numbers or, if none of the lines exists any more, the old ones. */
export function placeOf(lines: readonly DiffLine[]): { readonly place: string; readonly isBefore: boolean } {
  const now = lines.flatMap(({ after }) => (after === null ? [] : [after]))
  const numbers = now.length > 0 ? now : lines.flatMap(({ before }) => (before === null ? [] : [before]))
  const [first = 0, last = first] = [numbers[0], numbers.at(-1)]
  return { place: first === last ? `${first}` : `${first}-${last}`, isBefore: now.length === 0 }
}

function codeSpan(text: string): string {
  const ticks = '`'.repeat(longestRun(text) + 1)
  // A backtick at an edge would join the delimiter. Markdown strips one space from each end.
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : ''
  return `${ticks}${pad}${text}${pad}${ticks}`
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
}

/** One line without its final carriage return; line separators, bidirectional controls, and control characters except tabs become code points. */
function oneLine(text: string): string {
  return text
    .replace(/\r$/, '')
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, (sign) =>
      sign === '\t' ? sign : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
    )
}
