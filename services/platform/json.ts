/** JSON that may be none. */

/** The value of a JSON text, or of its bytes in UTF-8; `undefined` when it is no JSON. */
export function jsonOf(text: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'))
  } catch {
    return undefined
  }
}
