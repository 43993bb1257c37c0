import { describe, expect, test } from 'vitest'
import { takeToken } from './takeToken.ts'

function browser(address: string) {
  const kept = new Map<string, string>()
  const addresses: string[] = []
  const outcome = takeToken(
    new URL(address, 'http://localhost'),
    { state: null, replaceState: (_state, _unused, url) => void addresses.push(String(url)) },
    {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    },
  )
  return { outcome, kept, addresses }
}

describe('the sign-in callback', () => {
  test('keeps the token and takes it out of the address', () => {
    const { outcome, kept, addresses } = browser('/auth/callback?token=t0k&onboarding=true')
    expect(outcome).toEqual({ kind: 'token', onboarding: true })
    expect([...kept]).toEqual([['authToken', 't0k']])
    expect(addresses).toEqual(['/auth/callback'])
  })

  test('goes to the dashboard unless onboarding is exactly true', () => {
    for (const value of ['false', '1', 'TRUE', '']) {
      expect(browser(`/auth/callback?token=t&onboarding=${value}`).outcome).toEqual({
        kind: 'token',
        onboarding: false,
      })
    }
  })

  test('an error wins over a token, and the token is not kept', () => {
    const { outcome, kept, addresses } = browser('/auth/callback?token=t0k&error=session_lost')
    expect(outcome).toEqual({ kind: 'error', error: 'session_lost' })
    expect(kept.size).toBe(0)
    expect(addresses).toEqual(['/auth/callback'])
  })

  test('without either there is nothing to do', () => {
    expect(browser('/auth/callback').outcome).toEqual({ kind: 'nothing' })
    expect(browser('/auth/callback?token=').outcome).toEqual({ kind: 'nothing' })
  })

  test('other pages are left alone', () => {
    const { outcome, kept, addresses } = browser('/dashboard?token=t0k')
    expect(outcome).toBeNull()
    expect(kept.size).toBe(0)
    expect(addresses).toEqual([])
  })

  test('a storage that refuses does not stop the sign-in', () => {
    const closed = {
      getItem: () => null,
      removeItem: () => undefined,
      setItem: () => {
        throw new DOMException('full', 'QuotaExceededError')
      },
    }
    const at = new URL('/auth/callback?token=t', 'http://localhost')
    expect(takeToken(at, { state: null, replaceState: () => undefined }, closed)).toEqual({
      kind: 'token',
      onboarding: false,
    })
  })
})
