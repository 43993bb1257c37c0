/** Ids that follow from what is known of a person, and that nobody without the master key can compute. */
import { createHmac } from 'node:crypto'

/** The UUID that `text` has under a key, always the same: version 8, of the maker's own making (RFC 9562). */
export function keyedId(key: Uint8Array, text: string): string {
  const digest = createHmac('sha256', key).update(text).digest()
  digest.writeUInt8(0x80 | (digest.readUInt8(6) & 0x0f), 6)
  digest.writeUInt8(0x80 | (digest.readUInt8(8) & 0x3f), 8)
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
