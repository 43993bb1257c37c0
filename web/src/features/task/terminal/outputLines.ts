/**
 * Turns output into the lines of a log. A terminal would overwrite; a log keeps what a line was in the end: a carriage
 * return and an erased line begin it anew. Colours stay in the text, every other control sequence goes. Pure.
 */

/** One line that is finished, or the last one as far as it is written. */
export interface OutputLine {
  /** With its colour codes. */
  readonly text: string
  /** Colour codes that were on when it began. */
  readonly start: string
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
const longestCommand = 500

const esc = '\u001B'
/** Sets colours and weights: the only sequence that stays. */
const colour = new RegExp(`${esc}\\[[0-9;:]*m`, 'g')
const plainReset = `${esc}[0m`
const reset = new RegExp(`${esc}\\[0*m`)
const token = new RegExp(
  [
    `(?<colour>${esc}\\[[0-9;:]*m)`,
    // Erasing the line and going back to its beginning are one here.
    `(?<anew>\\r|${esc}\\[(?:[12]K|[01]?G))`,
    `(?<sequence>${esc}(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007${esc}]*(?:\\u0007|${esc}\\\\)|[PX^_][^${esc}]*${esc}\\\\|[ -/]*[0-Z\\\\^-~]))`,
    `(?<text>[^\\u0000-\\u0008\\u000A-\\u001F\\u007F]+)`,
    `(?<control>[\\s\\S])`,
  ].join('|'),
  'gu',
)
/** Anything but text, line feeds and colours. */
const special = new RegExp(`[\\u0000-\\u0008\\u000B-\\u001A\\u001C-\\u001F\\u007F]|${esc}(?!\\[[0-9;:]*m)`)
const unfinished = new RegExp(
  `${esc}(?:\\[[0-?]*[ -/]*|[\\]PX^_][^\\u0007${esc}]{0,${longestCommand}}(?:${esc})?|[ -/]*)?$`,
)

/** The lines that a piece of output finishes, and where it stands then. */
export function addOutput(
  state: OutputState,
  piece: string,
): { readonly finished: readonly OutputLine[]; readonly state: OutputState } {
  const all = state.unread + piece
  const unread = unfinished.exec(all)?.[0] ?? ''
  const finished: OutputLine[] = []
  let { line, start, atStart } = state
  const end = () => {
    finished.push({ text: line, start })
    start = codesAfter(start, line)
    line = ''
    atStart = false
  }
  const cut = () => {
    while (line.length > longestLine) {
      const rest = line.slice(longestLine)
      line = line.slice(0, longestLine)
      end()
      line = rest
    }
  }
  const text = all.slice(0, all.length - unread.length)
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
      if (atStart) line = (line.match(colour) ?? []).join('')
      atStart = false
      line += groups['text']
    } else if (groups['colour'] !== undefined) line += groups['colour']
    else if (groups['anew'] !== undefined) atStart = true
    else if (groups['control'] === '\n') end()
    else if (groups['control'] === '\b' && !atStart) line = line.replace(lastCharacter, '$<codes>')
    cut()
  }
  return { finished, state: { line, start, atStart, unread } }
}

/** The text of a line without its colours. */
export function withoutColours(text: string): string {
  return text.replaceAll(colour, '')
}

/** The last character that is seen, with the colour codes behind it. */
const lastCharacter = new RegExp(`(?<!${esc}\\[[0-9;:]*)[^${esc}](?<codes>(?:${esc}\\[[0-9;:]*m)*)$`, 'u')

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
