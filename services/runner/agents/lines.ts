/** Cuts a stream of characters into lines, with a bound on what a line may hold. */

export interface Line {
  readonly text: string
  /** The line was longer than allowed; `text` is its beginning. */
  readonly overlong: boolean
}

export interface LineSplitter {
  push(chunk: string): readonly Line[]
  /** Gives back a last line that has no end. */
  end(): readonly Line[]
}

const keptOfOverlong = 1000

/** Splits at `\n` and drops a `\r` before it. A line beyond `limit` characters is cut to its first 1,000. */
export function createLineSplitter(limit: number): LineSplitter {
  let parts: string[] = []
  let length = 0
  let overlong = false

  const add = (part: string) => {
    if (overlong || part === '') return
    parts.push(part)
    length += part.length
    if (length <= limit) return
    parts = [parts.join('').slice(0, keptOfOverlong)]
    overlong = true
  }
  const take = (): Line => {
    const text = parts.join('')
    const line = { text: text.endsWith('\r') ? text.slice(0, -1) : text, overlong }
    parts = []
    length = 0
    overlong = false
    return line
  }

  return {
    push(chunk) {
      const lines: Line[] = []
      let from = 0
      for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
        add(chunk.slice(from, end))
        lines.push(take())
        from = end + 1
      }
      add(chunk.slice(from))
      return lines
    },
    end: () => (parts.length === 0 ? [] : [take()]),
  }
}
