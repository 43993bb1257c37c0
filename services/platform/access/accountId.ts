/** Ids that are computed from a text with a key, such as our id for an account at the code host. */
import { createHmac } from 'node:crypto'
import type { Vault } from '#platform/ports/vault.ts'

/** A UUID of version 8 (RFC 9562) that is always the same for the same text. Without `key`, nobody can compute it. */
export function keyedId(key: Uint8Array, text: string): string {
  const digest = createHmac('sha256', key).update(text).digest()
  digest.writeUInt8(0x80 | (digest.readUInt8(6) & 0x0f), 6)
  digest.writeUInt8(0x80 | (digest.readUInt8(8) & 0x3f), 8)
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * Our id for the account, which is also the id of the first user that signs up with it. It is computed from `id`, the code host's public id, and the
 * master key: without that key, nobody can tell whose events the log holds.
 */
export function idOfAccount(vault: Pick<Vault, 'deriveKey'>, codeHostName: string, id: string): string {
  return keyedId(vault.deriveKey('account-identity'), `${codeHostName}:${id}`)
}
