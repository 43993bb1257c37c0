/** The ids of people, derived from their account at the code host or their e-mail address. */
import { v5 as uuidv5 } from 'uuid'
import { userStream } from '#domain/kernel/streams.ts'
import { user } from '#domain/user/user.ts'
import type { Commands } from '#platform/commands/execute.ts'

/** `id`, or the first id derived from it that belongs to no deleted account: whoever returns after deleting an account is a new person. */
export async function unusedUserId(id: string, { load }: Pick<Commands, 'load'>): Promise<string> {
  for (let returns = 0; ; returns += 1) {
    const candidate = returns === 0 ? id : uuidv5(`return ${returns}`, id)
    const { state } = await load(user, userStream(candidate))
    if (state.kind !== 'deleted') return candidate
  }
}
