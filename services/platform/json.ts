/** Parses text that may not be JSON. */

/** The value of a JSON text, or of its bytes in UTF-8; `undefined` when it is not JSON. */
export function jsonOf(text: string | Uint8Array): unknown {
  try {
    if (typeof text === 'string') return JSON.parse(text)
    return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'))
  } catch {
    return undefined
  }
}
