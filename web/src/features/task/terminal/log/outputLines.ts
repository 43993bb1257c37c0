/**
 * Turns output into the lines of a log. A terminal would overwrite; a log keeps what a line was in the end: a carriage
 * return and an erased line restart it. Colours and links stay in the text, every other control sequence goes. Pure.
 */
import { safeLink } from '../../../../ui/text/safeLink.ts'

/** One line that is finished, or the last one as far as it is written. */
export interface OutputLine {
  /** With its colour codes, and links to web pages as `openLink` and `closeLink` write them. */
  readonly text: string
  /** Colour codes that were on when it began. */
  readonly start: string
}

/** Where the output of a command ended, as shells say it (OSC 133 D); `null` when it did not say how. */
export interface CommandEnd {
  readonly exitCode: number | null
}

/** Where the output stands: the line that is being written, and what cannot be understood before more comes. */
export interface OutputState {
  readonly line: string
  readonly start: string
  /** The cursor went back to the line's beginning: what is written next takes the place of the line. */
  readonly atStart: boolean
  /** The beginning of a control sequence. */
  readonly unread: string
}

export const outputBegun: OutputState = { line: '', start: '', atStart: false, unread: '' }

/** A line longer than this is cut into several: one endless line would stop the page. UTF-16 code units. */
export const longestLine = 4_000
/** Colour codes that are carried from line to line at most; more than this is noise. */
const codesCarried = 16
/** An operating-system command (a title, a link) that does not end within this is taken for text. */
const longestCommand = 2_000

const esc = '\u001B'
/** Ends a link in the text of a line. */
export const closeLink = `${esc}]8;;\u0007`
const colourCode = `${esc}\\[[0-9;:]*m`
const linkCode = `${esc}\\]8;;[^\\u0007${esc}]*\\u0007`
/** Sets colours and weights. */
const colour = new RegExp(colourCode, 'g')
/** All that stays in the text of a line beside what is seen. */
const code = new RegExp(`${colourCode}|${linkCode}`, 'g')
const codeHere = new RegExp(code.source, 'y')
const plainReset = `${esc}[0m`
const reset = new RegExp(`${esc}\\[0*m`)
/** Turns the direction of what follows it, so that a line reads as what it is not. */
const turning = '\\u202A-\\u202E\\u2066-\\u2069'
const turns = new RegExp(`[${turning}]`, 'g')
const controls = '\\u0000-\\u0008\\u000B-\\u001A\\u001C-\\u001F\\u007F-\\u009F'
const token = new RegExp(
  [
    `(?<colour>${colourCode})`,
    // Erasing the line and going back to its beginning are one here.
    `(?<restart>\\r|${esc}\\[(?:[12]K|[01]?G))`,
    `${esc}\\]8;[^;\\u0007${esc}]*;(?<link>[^\\u0007${esc}]*)(?:\\u0007|${esc}\\\\)`,
    `${esc}\\]133;D(?:;(?<exit>\\d{0,10})[^\\u0007${esc}]*)?(?<ended>\\u0007|${esc}\\\\)`,
    `(?<sequence>${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)|[PX^_][^${esc}]*${esc}\\\\|[ -/]*[0-Z\\\\^-~]))`,
    `(?<text>[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]+)`,
    `(?<control>[\\s\\S])`,
  ].join('|'),
  'gu',
)
/** Anything but text, line feeds and colours. */
const special = new RegExp(`[${controls}]|${esc}(?!\\[[0-9;:]*m)`)
const unfinished = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\\u0007${esc}]{0,${longestCommand}}(?:${esc})?|[ -/]*)?$`,
)

/** What a piece of output finishes, in its order, and where it stands then. */
export function addOutput(
  state: OutputState,
  piece: string,
): { readonly finished: readonly (OutputLine | CommandEnd)[]; readonly state: OutputState } {
  const all = state.unread + piece
  const unread = unfinished.exec(all.slice(-longestCommand - 8))?.[0] ?? ''
  const finished: (OutputLine | CommandEnd)[] = []
  let { line, start, atStart } = state
  const end = () => {
    finished.push({ text: line, start })
    start = codesAfter(start, line)
    line = ''
    atStart = false
  }
  const cut = () => {
    while (line.length > longestLine) {
      const at = wholeBefore(line, longestLine)
      const rest = line.slice(at)
      line = line.slice(0, at)
      end()
      line = rest
    }
  }
  const text = all.slice(0, all.length - unread.length).replaceAll(turns, '\uFFFD')
  if (!atStart && !special.test(text)) {
    // Nearly all output is lines with colours: fifty thousand of them must not stop the page.
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

/** The beginning of a link to a web page, as it stands in a line; any other address is no link, and ends the one before. */
export function openLink(address: string): string {
  const href = safeLink(address)
  return href === null ? closeLink : `${esc}]8;;${href}\u0007`
}

/** The text of a line without its colours and addresses: what is seen of it. */
export function withoutColours(text: string): string {
  return text.includes(esc) ? text.replaceAll(code, '') : text
}

/** Where a line can be cut at the latest without cutting a code or a character in two. */
function wholeBefore(line: string, at: number): number {
  const escape = line.lastIndexOf(esc, at - 1)
  if (escape > 0 && escape + codeLength(line, escape) > at) return escape
  const last = line.charCodeAt(at - 1)
  return last >= 0xd800 && last < 0xdc00 ? at - 1 : at
}

/** How long the code is that begins there; 0 where none does. */
function codeLength(line: string, index: number): number {
  codeHere.lastIndex = index
  return codeHere.exec(line)?.[0].length ?? 0
}

/** A line without the last character that is seen; the codes behind it stay. */
function withoutLast(line: string): string {
  let codesFrom = line.length
  // Codes end in `m` or in a bell: all that ends so is looked at, from behind.
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
  // What was on before the last plain reset does not matter, and mostly nothing comes after it.
  const after = all.slice(all.lastIndexOf(plainReset) + 1)
  const codes = after.match(colour) ?? []
  return codes
    .slice(codes.findLastIndex((code) => reset.test(code)) + 1)
    .slice(-codesCarried)
    .join('')
}
