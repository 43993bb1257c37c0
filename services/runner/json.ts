/** The value that a text holds as JSON; `undefined` when it holds none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
