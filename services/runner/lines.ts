/** Splits a stream of characters into lines, and limits the length of a line. */

export interface Line {
  readonly text: string
  /** Whether the line was longer than allowed; `text` is then its beginning. */
  readonly overlong: boolean
}

const keptOfOverlong = 1000

/** Splits at `\n` and drops a `\r` before it. A line of more than `limit` characters is cut to its first 1,000. */
export function createLineSplitter(limit: number) {
  let text = ''
  let overlong = false
  const add = (part: string): void => {
    if (overlong) return
    text += part
    overlong = text.length > limit
    if (overlong) text = text.slice(0, keptOfOverlong)
  }
  const take = (): Line => {
    const line = { text: text.endsWith('\r') ? text.slice(0, -1) : text, overlong }
    text = ''
    overlong = false
    return line
  }
  return {
    push(chunk: string): readonly Line[] {
      const [first = '', ...rest] = chunk.split('\n')
      add(first)
      return rest.map((part) => {
        const line = take()
        add(part)
        return line
      })
    },
    /** Returns a last line that has no line end. */
    end: (): readonly Line[] => (text === '' ? [] : [take()]),
  }
}
