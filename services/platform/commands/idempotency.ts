/** Remembers writes that have a key: a repetition with the same key must have the same body. */
import { createHmac } from 'node:crypto'
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface Idempotency {
  /**
   * Records the request before it has any effect, and returns whether it was recorded before. `body` is the validated input; another body under the
   * same command id is refused as `key_reused`. The log ensures that the request takes effect once, because a stream knows the commands that it has
   * accepted.
   */
  accept(commandId: string, userId: string, body: unknown): Promise<{ readonly again: boolean }>
  /** A hash of the body, SHA-256 in hex. It is made with a secret key, so that nobody can guess an erased body from its hash. */
  digestOf(body: unknown): string
}

export function idempotency({
  recentKeys,
  vault,
}: {
  recentKeys: Pick<RecentKeys, 'remember'>
  vault: Pick<Vault, 'deriveKey'>
}): Idempotency {
  const key = vault.deriveKey('idempotency')
  const digestOf = (body: unknown): string =>
    createHmac('sha256', key)
      .update(canonicalJson(body ?? null))
      .digest('hex')
  return {
    async accept(commandId, userId, body) {
      const digest = digestOf(body)
      const known = await recentKeys.remember({ id: commandId, person: userId }, digest)
      if (known.digest !== digest) throw new Fault('key_reused', undefined, 'Idempotency-Key')
      return { again: known.again }
    },
    digestOf,
  }
}
