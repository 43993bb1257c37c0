/** A person's access to the code host: kept in the vault, refreshed before it runs out. */
import { z } from 'zod'
import { Fault } from '#domain/kernel/errors.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost, type HostTokens } from '#platform/ports/codeHost.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface HostAccess {
  keep(userId: string, tokens: HostTokens): Promise<void>
  /** An access token that holds for a minute at least. Throws `github_not_connected` when there is none any more. */
  tokenOf(userId: string): Promise<string>
  /** Ends the access here and at the host. */
  end(userId: string): Promise<void>
}

const KeptTokens = z.object({
  accessToken: z.string(),
  expiresAt: z.string().nullable(),
  refreshToken: z.string().nullable(),
  refreshExpiresAt: z.string().nullable(),
})
const secretName = 'code-host'
const marginMs = 60_000

export function hostAccess(engines: { vault: Vault; codeHost: CodeHost; clock: Clock }): HostAccess {
  const { vault, codeHost, clock } = engines
  const refreshing = new Map<string, Promise<string>>()
  const scope = (userId: string): string => `user:${userId}`
  const keep = (userId: string, tokens: HostTokens) =>
    vault.putSecret(scope(userId), secretName, JSON.stringify(tokens))

  async function kept(userId: string): Promise<HostTokens | undefined> {
    const secret = await vault.getSecret(scope(userId), secretName)
    return secret === undefined ? undefined : KeptTokens.parse(JSON.parse(secret))
  }

  async function refresh(userId: string, refreshToken: string): Promise<string> {
    try {
      const tokens = await codeHost.refresh(refreshToken)
      await keep(userId, tokens)
      return tokens.accessToken
    } catch (fault) {
      if (fault instanceof CodeHostFault && fault.kind !== 'unavailable')
        throw new Fault('github_not_connected')
      throw fault
    }
  }

  return {
    keep,
    async tokenOf(userId) {
      const tokens = await kept(userId)
      if (!tokens) throw new Fault('github_not_connected')
      const runsOut = tokens.expiresAt === null ? Infinity : Date.parse(tokens.expiresAt)
      if (runsOut - marginMs > clock.now().getTime()) return tokens.accessToken
      if (tokens.refreshToken === null) throw new Fault('github_not_connected')
      // A refresh token works once: those who ask at the same time share the answer.
      const running = refreshing.get(userId) ?? refresh(userId, tokens.refreshToken)
      refreshing.set(userId, running)
      return running.finally(() => refreshing.delete(userId))
    },
    async end(userId) {
      const tokens = await kept(userId)
      if (!tokens) return
      await vault.removeSecret(scope(userId), secretName)
      await codeHost.revoke(tokens.accessToken)
    },
  }
}
