/** The memory of keyed writes: the same key names the same request, and another one under it is refused. */
import { createHmac } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import { requestStream } from '#domain/kernel/ids.ts'
import { request } from '#domain/request/request.ts'
import type { Vault } from '#platform/ports/vault.ts'
import type { Commands } from './execute.ts'

export interface Idempotency {
  /**
   * Notes that the request was taken, before it has any effect, and tells whether it was taken before. `body` is what its schema has
   * let through: another one under the same command id is refused as `key_reused`. It is in the log, and so remembered for longer
   * than the 24 hours that are promised.
   */
  accept(
    commandId: string,
    userId: string,
    body: unknown,
    correlationId: string,
  ): Promise<{ readonly again: boolean }>
}

/** Keyed requests, each a stream of its own: of two that come at once with different bodies, the first to be appended counts. */
export function idempotency({
  commands,
  vault,
}: {
  commands: Commands
  vault: Pick<Vault, 'deriveKey'>
}): Idempotency {
  const key = vault.deriveKey('idempotency')
  return {
    async accept(commandId, userId, body, correlationId) {
      // Keyed: what a person wrote cannot be guessed from it once it was erased.
      const digest = createHmac('sha256', key)
        .update(canonicalJson(body ?? null))
        .digest('hex')
      // A name of its own: event ids follow from it, and the request's effect has the other.
      const named = uuidv5(digest, commandId)
      const cause = { actor: { kind: 'user', userId }, commandId: named, correlationId } as const
      const { events } = await commands.execute(
        request,
        requestStream(commandId),
        { type: 'AcceptRequest', userId, digest },
        cause,
      )
      return { again: events.length === 0 }
    },
  }
}
