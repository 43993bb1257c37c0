/** The ids of people, derived from their account at the code host or their e-mail address. */
import { createHmac } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import { userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import type { Commands } from '#platform/commands/execute.ts'

/** The UUID of `text` under a secret key, always the same: version 8 (RFC 9562). Nobody without the key can compute it. */
export function keyedId(key: Uint8Array, text: string): string {
  const digest = createHmac('sha256', key).update(text).digest()
  digest.writeUInt8(0x80 | (digest.readUInt8(6) & 0x0f), 6)
  digest.writeUInt8(0x80 | (digest.readUInt8(8) & 0x3f), 8)
  return digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** `id`, or the first id derived from it that belongs to no deleted account: whoever returns after deleting an account is a new person. */
export async function unusedUserId(id: string, { load }: Pick<Commands, 'load'>): Promise<string> {
  for (let returns = 0; ; returns += 1) {
    const candidate = returns === 0 ? id : uuidv5(`return ${returns}`, id)
    const { state } = await load(user, userStream(candidate))
    if (state.kind !== 'deleted') return candidate
  }
}
