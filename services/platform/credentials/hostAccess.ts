/** A person's access to the code host: kept in the vault, refreshed before it runs out. */
import { z } from 'zod'
import { Fault } from '#domain/kernel/errors.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, type CodeHost, type HostTokens } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'

export interface HostAccess {
  keep(userId: string, tokens: HostTokens): Promise<void>
  /** An access token that is valid for at least a minute. Throws `github_not_connected` when there is none. */
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

/** Longer than the code host is waited for, twice. */
const patienceMs = 30_000

export function hostAccess(engines: {
  vault: Vault
  codeHost: Pick<CodeHost, 'refresh' | 'revoke'>
  clock: Clock
  leases: Pick<Leases, 'hold'>
}): HostAccess {
  const { vault, codeHost, clock, leases } = engines
  const refreshing = new Map<string, Promise<string>>()
  const scope = (userId: string): string => `user:${userId}`
  const keep = (userId: string, tokens: HostTokens) =>
    vault.putSecret(scope(userId), secretName, JSON.stringify(tokens))

  async function kept(userId: string): Promise<HostTokens | undefined> {
    const secret = await vault.getSecret(scope(userId), secretName)
    return secret === undefined ? undefined : KeptTokens.parse(JSON.parse(secret))
  }

  const holds = ({ expiresAt }: HostTokens): boolean =>
    expiresAt === null || Date.parse(expiresAt) - marginMs > clock.now().getTime()

  /** A refresh token works once: one process at a time uses or ends it, and reads what the one before it left. */
  function alone<T>(userId: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let begun: Promise<unknown> | undefined
      const held = leases.hold(`code host access of ${userId}`, async () => {
        // One that is lost and held again does not do it twice.
        begun ??= work().then(resolve, reject)
        void begun.then(() => held.stop())
        return { stop: async () => void (await begun) }
      })
      setTimeout(() => {
        if (begun !== undefined) return
        void held.stop()
        reject(new EngineUnavailable('The lease of the access to the code host'))
      }, patienceMs).unref()
    })
  }

  async function refresh(userId: string): Promise<string> {
    const tokens = await kept(userId)
    if (tokens && holds(tokens)) return tokens.accessToken
    if (!tokens || tokens.refreshToken === null) throw new Fault('github_not_connected')
    try {
      const fresh = await codeHost.refresh(tokens.refreshToken)
      // A sign-in takes no lease: what it kept meanwhile is newer.
      const now = await kept(userId)
      if (now && now.refreshToken !== tokens.refreshToken) return now.accessToken
      await keep(userId, fresh)
      return fresh.accessToken
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
      if (holds(tokens)) return tokens.accessToken
      const running = refreshing.get(userId) ?? alone(userId, () => refresh(userId))
      refreshing.set(userId, running)
      return running.finally(() => refreshing.delete(userId))
    },
    async end(userId) {
      if (!(await kept(userId))) return
      // After a refresh that is under way, which would put back what is ended here.
      const tokens = await alone(userId, async () => {
        const last = await kept(userId)
        await vault.removeSecret(scope(userId), secretName)
        return last
      })
      if (tokens) await codeHost.revoke(tokens.accessToken)
    },
  }
}
