/** The id that an account of the code host has here. */
import { createHmac } from 'node:crypto'
import type { Vault } from '#platform/ports/vault.ts'

/** The UUID of `text` under a secret key, always the same: version 8 (RFC 9562). Nobody without the key can compute it. */
export function keyedId(key: Uint8Array, text: string): string {
  const digest = createHmac('sha256', key).update(text).digest()
  digest.writeUInt8(0x80 | (digest.readUInt8(6) & 0x0f), 6)
  digest.writeUInt8(0x80 | (digest.readUInt8(8) & 0x3f), 8)
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * The account's own id here, which is also that of the user whom it registers. `id` is the code host's, and public: without the master
 * key nobody can tell from the log whose events these are.
 */
export function idOfAccount(vault: Pick<Vault, 'deriveKey'>, codeHostName: string, id: string): string {
  return keyedId(vault.deriveKey('account-identity'), `${codeHostName}:${id}`)
}
