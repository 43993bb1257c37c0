/** People's tokens for the code host: stored in the vault, and refreshed before they expire. */
import { LRUCache } from 'lru-cache'
import { Fault } from '#domain/kernel/errors.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { CodeHostFault, HostTokens, type CodeHost } from '#platform/ports/codeHost.ts'
import type { Leases } from '#platform/ports/leases.ts'
import type { Vault } from '#platform/ports/vault.ts'
import { alone } from '../async/alone.ts'
import { retryWhileUnavailable } from '../eventlog/eventLog.ts'

export interface HostAccess {
  keep(userId: string, tokens: HostTokens): Promise<void>
  /**
   * An access token that does not expire within a minute. Throws `github_not_connected` when there is no token, or when an expired token can
   * never be renewed. Throws the code host's fault when the token cannot be renewed now.
   */
  tokenOf(userId: string): Promise<string>
  /** Revokes the person's tokens at the code host, and then deletes them here. */
  end(userId: string): Promise<void>
  /**
   * Checks whether the code host still accepts the person's token. If not, runs `record` and then deletes the tokens, unless other tokens were stored
   * in the meantime. If `record` throws, the tokens stay. Throws CodeHostFault when the code host neither accepts nor refuses the token, and
   * `EngineUnavailable`.
   */
  endIfRefused(userId: string, record: () => Promise<unknown>): Promise<void>
}

const secretName = 'code-host'
const marginMs = 60_000
/** The most people whose renewed tokens are remembered while the vault does not store them. */
const maxUnstored = 1_000
/** The code host's error for a refresh token that was used, has expired or was revoked. Only this error ends a grant. */
const usedUp = 'bad_refresh_token'

const isValidAt = ({ expiresAt }: HostTokens, now: Date): boolean =>
  expiresAt === null || Date.parse(expiresAt) - marginMs > now.getTime()

const scope = (userId: string): string => `user:${userId}`
const tokensIn = (secret: string | undefined): HostTokens | undefined =>
  secret === undefined ? undefined : HostTokens.parse(JSON.parse(secret))

const isRefusal = (fault: unknown): boolean =>
  fault instanceof CodeHostFault
    ? fault.kind === 'unauthorized'
    : fault instanceof Fault && fault.code === 'github_not_connected'

export function hostAccess(engines: {
  vault: Vault
  codeHost: Pick<CodeHost, 'refresh' | 'revoke' | 'account'>
  clock: Clock
  leases: Pick<Leases, 'hold'>
  /** How long storing renewed tokens is tried again, in ms. */
  storePatienceMs?: number
}): HostAccess {
  const { vault, codeHost, clock, leases, storePatienceMs: patienceMs = 8_000 } = engines
  const refreshing = new Map<string, Promise<string>>()
  /** Renewed tokens that are not stored yet, by the stored refresh token that was used for them: it never works again. */
  const unstored = new LRUCache<string, HostTokens>({ max: maxUnstored })
  const keep = (userId: string, tokens: HostTokens) =>
    vault.putSecret(scope(userId), secretName, JSON.stringify(tokens))

  const secretOf = (userId: string) => vault.getSecret(scope(userId), secretName)
  const kept = async (userId: string) => tokensIn(await secretOf(userId))

  const holds = (tokens: HostTokens): boolean => isValidAt(tokens, clock.now())
  // No other process can use the person's access until renewed tokens are stored.
  const patiently = <T>(call: () => Promise<T>) => retryWhileUnavailable(call, { patienceMs })

  /**
   * Runs work on a person's tokens, one piece of work at a time among all processes, because a refresh token works only once. Each piece then reads
   * the tokens that the previous one stored.
   */
  const inTurn = <T>(userId: string, work: () => Promise<T>): Promise<T> =>
    alone(leases, `code host access of ${userId}`, work)

  async function refresh(userId: string): Promise<string> {
    const tokens = await kept(userId)
    if (tokens && holds(tokens)) return tokens.accessToken
    if (!tokens || tokens.refreshToken === null) throw new Fault('github_not_connected')
    try {
      const last = unstored.get(tokens.refreshToken) ?? tokens
      const fresh = holds(last) ? last : await codeHost.refresh(last.refreshToken ?? tokens.refreshToken)
      unstored.set(tokens.refreshToken, fresh)
      // A sign-in does not wait for the lease, so the stored tokens may be newer.
      const now = await patiently(() => kept(userId))
      if (now && now.refreshToken !== tokens.refreshToken) return now.accessToken
      await patiently(() => keep(userId, fresh))
      unstored.delete(tokens.refreshToken)
      return fresh.accessToken
    } catch (fault) {
      if (!(fault instanceof CodeHostFault && fault.hostCode === usedUp)) throw fault
      // Another process may have used the refresh token and stored the new tokens.
      const now = await kept(userId)
      if (now && now.refreshToken !== tokens.refreshToken) return now.accessToken
      throw new Fault('github_not_connected')
    }
  }

  async function tokenOf(userId: string): Promise<string> {
    const tokens = await kept(userId)
    if (!tokens) throw new Fault('github_not_connected')
    if (holds(tokens)) return tokens.accessToken
    const running = refreshing.get(userId) ?? inTurn(userId, () => refresh(userId))
    refreshing.set(userId, running)
    return running.finally(() => refreshing.delete(userId))
  }

  return {
    keep,
    tokenOf,
    async end(userId) {
      if (!(await kept(userId))) return
      // Waits for a running refresh, which would otherwise store tokens again.
      await inTurn(userId, async () => {
        // Repeats, since a sign-in does not wait for the lease and may store other tokens in the meantime.
        for (;;) {
          const secret = await secretOf(userId)
          const tokens = tokensIn(secret)
          if (!tokens) return
          // If revoking fails, the tokens stay here, so that it can be retried.
          await codeHost.revoke((unstored.get(tokens.refreshToken ?? '') ?? tokens).accessToken)
          await vault.removeSecret(scope(userId), secretName, secret)
        }
      })
    },
    async endIfRefused(userId, record) {
      let refused = (await kept(userId))?.accessToken
      if (refused === undefined) return
      try {
        refused = await tokenOf(userId)
        await codeHost.account(refused)
        return
      } catch (fault) {
        if (!isRefusal(fault)) throw fault
      }
      await inTurn(userId, async () => {
        // The refusal is not about tokens that a sign-in stored in the meantime.
        const secret = await secretOf(userId)
        if (tokensIn(secret)?.accessToken !== refused) return
        await record()
        await vault.removeSecret(scope(userId), secretName, secret)
      })
    },
  }
}
