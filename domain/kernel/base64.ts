/** Base64 with the standard alphabet and padding (RFC 4648, section 4), for code that must run both in Node and in browsers. */

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const values = new Map([...alphabet].map((letter, value) => [letter, value]))

export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [one = 0, two, three] = bytes.subarray(at, at + 3)
    const group = one * 65_536 + (two ?? 0) * 256 + (three ?? 0)
    text += letter(group >> 18) + letter(group >> 12)
    text += two === undefined ? '=' : letter(group >> 6)
    text += three === undefined ? '=' : letter(group)
  }
  return text
}

/** The decoded bytes; `undefined` when the text is not exactly what `toBase64` would write. */
export function fromBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const bytes = new Uint8Array((text.length / 4) * 3 - padding)
  let bits = 0
  let held = 0
  let at = 0
  for (const each of text.slice(0, text.length - padding)) {
    const value = values.get(each)
    if (value === undefined) return undefined
    held = (held << 6) | value
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = (held >> bits) & 255
    held &= (1 << bits) - 1
  }
  // Left-over bits must be zero, so that no two texts stand for the same bytes.
  return held === 0 ? bytes : undefined
}

function letter(bits: number): string {
  return alphabet.charAt(bits & 63)
}
