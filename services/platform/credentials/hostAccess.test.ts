/** A refresh token works once, while several processes have it. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openInProcessLeases } from '#platform/leases/inProcess.ts'
import { CodeHostFault, type HostTokens } from '#platform/ports/codeHost.ts'
import { EngineUnavailable } from '#platform/ports/faults.ts'
import type { Leases } from '#platform/ports/leases.ts'
import { openTestEngines, somebody, type TestEngines } from '../../../tests/server/engines.ts'
import { hostAccess, type HostAccess } from './hostAccess.ts'

const { userId } = somebody

let engines: TestEngines
let leases: Leases
/** Refresh tokens that were used. */
let used: string[]
let revoked: string[]
let revokes = true
/** The fault that the code host answers with instead of new tokens. */
let refusal: CodeHostFault | undefined
let held: Promise<void>
const usedUp = new CodeHostFault('unauthorized', 'It was used.', undefined, undefined, 'bad_refresh_token')
beforeEach(async () => {
  engines = await openTestEngines()
  leases = openInProcessLeases({ onFault: () => undefined })
  used = []
  revoked = []
  revokes = true
  refusal = undefined
  held = Promise.resolve()
})
afterEach(async () => {
  await leases.close()
  await engines.close()
})

const tokens = (n: number, expiresAt: string): HostTokens => ({
  accessToken: `access ${n}`,
  expiresAt,
  refreshToken: `refresh ${n}`,
  refreshExpiresAt: null,
})
const past = '2020-01-01T00:00:00.000Z'
const future = '2100-01-01T00:00:00.000Z'

/** Holds the answers of the code host to renewals, until the returned function is called. */
function holdRenewals(): () => void {
  let release = () => undefined as void
  held = new Promise((resolve) => (release = resolve))
  return release
}

/** Opens the tokens as one more process on the same engines. */
function openProcess(vault = engines.vault, clock = engines.clock, storePatienceMs = 0): HostAccess {
  return hostAccess({
    vault,
    clock,
    leases,
    storePatienceMs,
    codeHost: {
      async refresh(refreshToken) {
        if (refusal !== undefined) throw refusal
        if (used.includes(refreshToken)) throw usedUp
        used.push(refreshToken)
        await pause(50)
        await held
        return tokens(used.length + 1, future)
      },
      async revoke(accessToken) {
        if (!revokes) throw new CodeHostFault('unavailable', 'Away')
        revoked.push(accessToken)
      },
      account: async () => Promise.reject(new CodeHostFault('unauthorized', 'Bad credentials')),
    },
  })
}

describe('access that has run out', () => {
  test('finding 7: is renewed once, whichever processes ask for it at the same time', async () => {
    const processes = [openProcess(), openProcess(), openProcess()]
    await processes[0]?.keep(userId, tokens(1, past))
    const asked = processes.flatMap((process) => [process.tokenOf(userId), process.tokenOf(userId)])
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 6 }, () => 'access 2'))
    expect(used).toEqual(['refresh 1'])
  })

  test('finding 7: is not put back by a renewal that was under way when it was ended', async () => {
    const [one, other] = [openProcess(), openProcess()]
    await one.keep(userId, tokens(1, past))
    const asked = one.tokenOf(userId).catch(() => undefined)
    await expect.poll(() => used).toEqual(['refresh 1'])
    await other.end(userId)
    await asked
    expect(revoked).toEqual(['access 2'])
    await expect(one.tokenOf(userId)).rejects.toMatchObject({ code: 'github_not_connected' })
  })

  test('is what a sign-in kept while it was renewed', async () => {
    const one = openProcess()
    await one.keep(userId, tokens(1, past))
    const release = holdRenewals()
    const asked = one.tokenOf(userId)
    await expect.poll(() => used).toEqual(['refresh 1'])
    await one.keep(userId, tokens(9, future))
    release()
    expect(await asked).toBe('access 9')
    expect(await one.tokenOf(userId)).toBe('access 9')
  })

  /** A vault whose call fails this many times, once the code host has renewed tokens. */
  const failingVault = (call: 'getSecret' | 'putSecret', times: number) => {
    const { vault } = engines
    let left = times
    const failing = (called: typeof call) => {
      if (called !== call || used.length === 0 || left === 0) return
      left -= 1
      throw new EngineUnavailable('the vault')
    }
    return {
      ...vault,
      getSecret: async (...which: Parameters<typeof vault.getSecret>) => {
        failing('getSecret')
        return vault.getSecret(...which)
      },
      putSecret: async (...what: Parameters<typeof vault.putSecret>) => {
        failing('putSecret')
        return vault.putSecret(...what)
      },
    }
  }

  test.each(['getSecret', 'putSecret'] as const)(
    'that was renewed while %s fails is stored for all processes when that works again',
    async (call) => {
      const one = openProcess(failingVault(call, 1), engines.clock, 60_000)
      await one.keep(userId, tokens(1, past))
      expect(await one.tokenOf(userId)).toBe('access 2')
      expect(await openProcess().tokenOf(userId)).toBe('access 2')
      expect(used).toEqual(['refresh 1'])
    },
  )

  test.each([
    ['getSecret', 1],
    ['putSecret', 2],
  ] as const)('that was renewed while %s failed is stored later', async (call, times) => {
    const one = openProcess(failingVault(call, times))
    await one.keep(userId, tokens(1, past))
    for (let fault = 0; fault < times; fault += 1)
      await expect(one.tokenOf(userId)).rejects.toThrow(EngineUnavailable)
    expect(await one.tokenOf(userId)).toBe('access 2')
    expect(used).toEqual(['refresh 1'])
    expect(await openProcess().tokenOf(userId)).toBe('access 2')
  })

  test('that was not stored and has run out too is renewed with its own refresh token', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const one = openProcess(failingVault('putSecret', 1), { now: () => new Date(now) })
    await one.keep(userId, tokens(1, past))
    await expect(one.tokenOf(userId)).rejects.toThrow(EngineUnavailable)
    now = Date.parse('2200-01-01T00:00:00Z')
    expect(await one.tokenOf(userId)).toBe('access 3')
    expect(used).toEqual(['refresh 1', 'refresh 2'])
  })

  test('that was not stored is what is ended at the host', async () => {
    const one = openProcess(failingVault('putSecret', 1))
    await one.keep(userId, tokens(1, past))
    await expect(one.tokenOf(userId)).rejects.toThrow(EngineUnavailable)
    await one.end(userId)
    expect(revoked).toEqual(['access 2'])
  })

  test.each(['rate_limited', 'forbidden', 'invalid', 'unauthorized', 'unavailable'] as const)(
    'is kept when the host does not renew it now, for a reason that says nothing of the grant: %s',
    async (kind) => {
      const one = openProcess()
      await one.keep(userId, tokens(1, past))
      refusal = new CodeHostFault(kind, 'Not now.')
      await expect(one.tokenOf(userId)).rejects.toBe(refusal)
      refusal = undefined
      expect(await one.tokenOf(userId)).toBe('access 2')
    },
  )

  test('that somebody else renewed without the lease is read again before the grant counts as ended', async () => {
    const one = openProcess()
    await one.keep(userId, tokens(1, past))
    used.push('refresh 1')
    const get = engines.vault.getSecret.bind(engines.vault)
    let reads = 0
    const racing = hostAccess({
      ...engines,
      vault: {
        ...engines.vault,
        getSecret: async (scope, name) => {
          reads += 1
          const before = await get(scope, name)
          // Stores other tokens after the second read, and so before the read that follows the refusal.
          if (reads === 2) await one.keep(userId, tokens(7, future))
          return before
        },
      },
      leases,
      codeHost: {
        refresh: async () => {
          throw usedUp
        },
        revoke: async () => undefined,
        account: async () => Promise.reject(usedUp),
      },
    })
    expect(await racing.tokenOf(userId)).toBe('access 7')
  })

  test('that a sign-in keeps while the one before is dropped stays', async () => {
    const one = openProcess()
    await one.keep(userId, tokens(1, future))
    const { vault } = engines
    const racing = hostAccess({
      ...engines,
      vault: {
        ...vault,
        removeSecret: async (scope, name, last) => {
          await one.keep(userId, tokens(7, future))
          await vault.removeSecret(scope, name, last)
        },
      },
      leases,
      codeHost: {
        refresh: async () => Promise.reject(usedUp),
        revoke: async () => undefined,
        account: async () => Promise.reject(new CodeHostFault('unauthorized', 'No.')),
      },
    })
    await racing.endIfRefused(userId, async () => undefined)
    expect(await one.tokenOf(userId)).toBe('access 7')
  })

  test('that a sign-in keeps while the one before is ended is ended too, here and at the host', async () => {
    const one = openProcess()
    await one.keep(userId, tokens(1, future))
    const { vault } = engines
    let isFirst = true
    const racing = openProcess({
      ...vault,
      removeSecret: async (...which) => {
        if (isFirst) await one.keep(userId, tokens(7, future))
        isFirst = false
        await vault.removeSecret(...which)
      },
    })
    await racing.end(userId)
    expect(revoked).toEqual(['access 1', 'access 7'])
    await expect(one.tokenOf(userId)).rejects.toMatchObject({ code: 'github_not_connected' })
  })

  test('that the host could not revoke stays, so that it can be ended again', async () => {
    const one = openProcess()
    await one.keep(userId, tokens(1, future))
    revokes = false
    await expect(one.end(userId)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await one.tokenOf(userId)).toBe('access 1')
    revokes = true
    await one.end(userId)
    expect(revoked).toEqual(['access 1'])
    await expect(one.tokenOf(userId)).rejects.toMatchObject({ code: 'github_not_connected' })
  })

  test('that the host refuses to renew is no connection any more', async () => {
    const one = openProcess()
    used.push('refresh 1')
    await one.keep(userId, tokens(1, past))
    await expect(one.tokenOf(userId)).rejects.toMatchObject({ code: 'github_not_connected' })
    await expect(one.tokenOf(userId)).rejects.toMatchObject({ code: 'github_not_connected' })
  })
})
