/** Parses text that may not be JSON. */

/** The value of a JSON text, or of its bytes in UTF-8; `undefined` when it is not JSON. */
export function jsonOf(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'))
  } catch {
    return undefined
  }
}
