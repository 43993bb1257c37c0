/** The memory of keyed writes: the same key names the same request, and another one under it is refused. */
import { createHmac } from 'node:crypto'
import { canonicalJson } from '#domain/kernel/canonicalJson.ts'
import { Fault } from '#domain/kernel/errors.ts'
import type { RecentKeys } from '#platform/ports/recentKeys.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface Idempotency {
  /**
   * Notes that the request was taken, before it has any effect, and tells whether it was taken before. `body` is what its schema has
   * let through: another one under the same command id is refused as `key_reused`. That it has its effect once is the log's doing: a
   * stream knows the commands that it took.
   */
  accept(commandId: string, userId: string, body: unknown): Promise<{ readonly again: boolean }>
  /** A keyed digest of a body, SHA-256 in hex: what a person wrote cannot be guessed from it once it was erased. */
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
