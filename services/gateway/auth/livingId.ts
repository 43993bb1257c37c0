/** Ids of people who come back after their account was deleted: what was theirs stays erased, and they are somebody new. */
import { v5 as uuidv5 } from 'uuid'
import { userStream } from '#domain/kernel/ids.ts'
import { user } from '#domain/user/user.ts'
import type { Commands } from '#platform/commands/execute.ts'

/** `id`, or the first that follows from it and is of no deleted account. */
export async function livingId(id: string, { load }: Pick<Commands, 'load'>): Promise<string> {
  for (let returns = 0; ; returns += 1) {
    const candidate = returns === 0 ? id : uuidv5(`return ${returns}`, id)
    const { state } = await load(user, userStream(candidate))
    if (state.kind !== 'deleted') return candidate
  }
}
