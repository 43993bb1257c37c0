/** Shortens the texts that agents report about their tools, so that an event stays small whatever a tool received or printed. */

/** At most `limit` characters of a text: its beginning and its end, with a note in between that says how much is left out. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text
  const note = `\n… ${text.length - limit} characters left out …\n`
  const each = Math.max(0, Math.floor((limit - note.length) / 2))
  return `${beginning(text, each)}${note}${text.slice(text.length - each).replace(/^[\uDC00-\uDFFF]/, '')}`
}

/** The first line of a text, cut to at most `limit` characters. */
export function firstLine(text: string, limit = 200): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length <= limit ? line : `${beginning(line, limit - 1)}…`
}

/** The first `length` UTF-16 units of a text, or one less if that would split a character. */
function beginning(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')
}

const jsonLimit = 16 * 1024

/** A value as JSON of at most 16,384 characters. Its strings are shortened until it fits; if it never fits, a note replaces it. */
export function shortJson(value: unknown): string {
  for (const limit of [4000, 400, 100]) {
    const json =
      JSON.stringify(value, (_, field: unknown) =>
        typeof field === 'string' ? shortened(field, limit) : field,
      ) ?? ''
    if (json.length <= jsonLimit) return json
  }
  return '{"left_out":"The input is too large to be shown."}'
}
