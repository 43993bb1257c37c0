/** Cuts a stream of characters into lines, with a bound on what a line may hold. */

export interface Line {
  readonly text: string
  /** The line was longer than allowed; `text` is its beginning. */
  readonly overlong: boolean
}

const keptOfOverlong = 1000

/** Splits at `\n` and drops a `\r` before it. A line beyond `limit` characters is cut to its first 1,000. */
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
    /** Gives back a last line that has no end. */
    end: (): readonly Line[] => (text === '' ? [] : [take()]),
  }
}
