/**
 * Converts output to the lines of a log. Where a terminal would overwrite, a log keeps the final state of a line: a carriage return or an erased line
 * restarts it. Colours and links are kept, all other control sequences are removed. Pure.
 */
import { safeLink } from '../../../../ui/text/safeLink.ts'

/** A finished line, or the last line as far as it has been written. */
export interface OutputLine {
  /** The text with colour codes, and with links to web pages in the form of `openLink` and `closeLink`. */
  readonly text: string
  /** The colour codes in effect at the start of the line. */
  readonly start: string
}

/** The end of a command's output, as shells report it (OSC 133 D); `null` when the exit code was not reported. */
interface CommandEnd {
  readonly exitCode: number | null
}

/** The state of the output: the line being written, and the beginning of an incomplete control sequence. */
export interface OutputState {
  readonly line: string
  readonly start: string
  /** Whether the cursor is at the start of the line, so that the next text replaces the line. */
  readonly atStart: boolean
  /** The beginning of an incomplete control sequence. */
  readonly unread: string
}

export const outputBegun: OutputState = { line: '', start: '', atStart: false, unread: '' }

/** The length in UTF-16 code units above which a line is split, because one endless line would freeze the page. */
export const maxLineLength = 4_000
/** The most colour codes that are carried from line to line. */
const codesCarried = 16
/** An incomplete operating-system command (such as a title or a link) waits for its end up to this length, and is then treated as text. */
const maxCommandLength = 2_000

const esc = '\u001B'
const closeLink = `${esc}]8;;\u0007`
const colourCode = `${esc}\\[[0-9;:]*m`
const linkCode = `${esc}\\]8;;[^\\u0007${esc}]*\\u0007`
const colour = new RegExp(colourCode, 'g')
/** Every invisible code that is kept in the text of a line. */
const code = new RegExp(`${colourCode}|${linkCode}`, 'g')
const codeHere = new RegExp(code.source, 'y')
const plainReset = `${esc}[0m`
const reset = new RegExp(`${esc}\\[0*m`)
/** Characters that change the writing direction. They would make a line look different from its content. */
const turning = '\\u202A-\\u202E\\u2066-\\u2069'
const turns = new RegExp(`[${turning}]`, 'g')
const controls = '\\u0000-\\u0008\\u000B-\\u001A\\u001C-\\u001F\\u007F-\\u009F'
const token = new RegExp(
  [
    `(?<colour>${colourCode})`,
    // Erasing the line and returning to its start are treated alike.
    `(?<restart>\\r|${esc}\\[(?:[12]K|[01]?G))`,
    `${esc}\\]8;[^;\\u0007${esc}]*;(?<link>[^\\u0007${esc}]*)(?:\\u0007|${esc}\\\\)`,
    `${esc}\\]133;D(?:;(?<exit>\\d{0,10})[^\\u0007${esc}]*)?(?<ended>\\u0007|${esc}\\\\)`,
    `(?<sequence>${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)|[PX^_][^${esc}]*${esc}\\\\|[ -/]*[0-Z\\\\^-~]))`,
    `(?<text>[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]+)`,
    `(?<control>[\\s\\S])`,
  ].join('|'),
  'gu',
)
/** Matches anything but text, line feeds and colours. */
const special = new RegExp(`[${controls}]|${esc}(?!\\[[0-9;:]*m)`)
const unfinished = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\\u0007${esc}]{0,${maxCommandLength}}(?:${esc})?|[ -/]*)?$`,
)

/** The lines and the commands that a piece of output finishes, in order, and the state after that piece. */
export function addOutput(
  state: OutputState,
  piece: string,
): { readonly finished: readonly (OutputLine | CommandEnd)[]; readonly state: OutputState } {
  const all = state.unread + piece
  const unread = unfinished.exec(all.slice(-maxCommandLength - 8))?.[0] ?? ''
  const finished: (OutputLine | CommandEnd)[] = []
  let { line, start, atStart } = state
  const end = () => {
    finished.push({ text: line, start })
    start = codesAfter(start, line)
    line = ''
    atStart = false
  }
  const cut = () => {
    while (line.length > maxLineLength) {
      const at = wholeBefore(line, maxLineLength)
      const rest = line.slice(at)
      line = line.slice(0, at)
      end()
      line = rest
    }
  }
  const text = all.slice(0, all.length - unread.length).replaceAll(turns, '\uFFFD')
  if (!atStart && !special.test(text)) {
    // A fast path: nearly all output is lines with colours, and fifty thousand of them must not freeze the page.
    const parts = text.split('\n')
    parts.forEach((part, index) => {
      if (index > 0) end()
      line += part
      cut()
    })
    return { finished, state: { line, start, atStart, unread } }
  }
  for (const { groups = {} } of text.matchAll(token)) {
    if (groups['text'] !== undefined) {
      if (atStart) {
        start = codesAfter(start, line)
        line = ''
      }
      atStart = false
      line += groups['text']
    } else if (groups['colour'] !== undefined) line += groups['colour']
    else if (groups['link'] !== undefined) line += openLink(groups['link'])
    else if (groups['restart'] !== undefined) atStart = true
    else if (groups['ended'] !== undefined) {
      if (line !== '') end()
      const exit = groups['exit'] ?? ''
      finished.push({ exitCode: exit === '' ? null : Number(exit) })
    } else if (groups['control'] === '\n') end()
    else if (groups['control'] === '\b' && !atStart) line = withoutLast(line)
    cut()
  }
  return { finished, state: { line, start, atStart, unread } }
}

/** The escape code that starts a link to a web page in the text of a line; an address of another kind ends the current link. */
function openLink(address: string): string {
  const href = safeLink(address)
  return href === null ? closeLink : `${esc}]8;;${href}\u0007`
}

/** The visible text of a line, without colours and addresses. */
export function withoutColours(text: string): string {
  return text.includes(esc) ? text.replaceAll(code, '') : text
}

/** The last index up to `at` where a line can be cut without splitting a code or a character. */
function wholeBefore(line: string, at: number): number {
  const escape = line.lastIndexOf(esc, at - 1)
  if (escape > 0 && escape + codeLength(line, escape) > at) return escape
  const last = line.charCodeAt(at - 1)
  return last >= 0xd800 && last < 0xdc00 ? at - 1 : at
}

/** The length of the colour code or link code that begins at `index`; 0 when none begins there. */
function codeLength(line: string, index: number): number {
  codeHere.lastIndex = index
  return codeHere.exec(line)?.[0].length ?? 0
}

/** The line without its last visible character; the codes after it stay. */
function withoutLast(line: string): string {
  let codesFrom = line.length
  // Codes end in `m` or a bell, so only those endings are checked, from the end.
  for (;;) {
    const before = line[codesFrom - 1]
    if (before !== 'm' && before !== '\u0007') break
    const escape = line.lastIndexOf(esc, codesFrom - 1)
    if (escape === -1 || escape + codeLength(line, escape) !== codesFrom) break
    codesFrom = escape
  }
  if (codesFrom === 0) return line
  const last = line.charCodeAt(codesFrom - 1)
  const isPair = last >= 0xdc00 && last < 0xe000 && codesFrom > 1
  return line.slice(0, codesFrom - (isPair ? 2 : 1)) + line.slice(codesFrom)
}

function codesAfter(start: string, line: string): string {
  const all = start + line
  if (!all.includes(esc)) return ''
  // Codes before the last plain reset have no effect, so only what follows this reset is searched. That is usually nothing.
  const after = all.slice(all.lastIndexOf(plainReset) + 1)
  const codes = after.match(colour) ?? []
  return codes
    .slice(codes.findLastIndex((code) => reset.test(code)) + 1)
    .slice(-codesCarried)
    .join('')
}
