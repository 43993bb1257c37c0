import { describe, expect, test } from 'vitest'
import { takeToken } from './AuthCallback.tsx'

/** The storage of a tab that began a sign-in with this nonce; of a tab that began none when it is left out. */
function tab(nonce?: string) {
  const kept = new Map<string, string>(nonce === undefined ? [] : [['signIn', nonce]])
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

function browser(address: string, nonces = tab('n0nce')) {
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
    nonces,
  )
  return { outcome, kept, addresses }
}

describe('the sign-in callback', () => {
  // Holds contract 4.9a, 9.7; screens 2.20b, 2.22a.
  test('keeps the token and takes it out of the address', () => {
    const { outcome, kept, addresses } = browser('/auth/callback?token=t0k&onboarding=true&nonce=n0nce')
    expect(outcome).toEqual({ kind: 'token', onboarding: true })
    expect([...kept]).toEqual([['authToken', 't0k']])
    expect(addresses).toEqual(['/auth/callback'])
  })

  // Holds screens 2.22b.
  test('goes to the dashboard unless onboarding is exactly true', () => {
    for (const value of ['false', '1', 'TRUE', '']) {
      expect(browser(`/auth/callback?token=t&nonce=n0nce&onboarding=${value}`).outcome).toEqual({
        kind: 'token',
        onboarding: false,
      })
    }
  })

  // Holds screens 2.21.
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
    const at = new URL('/auth/callback?token=t&nonce=n0nce', 'http://localhost')
    expect(takeToken(at, { state: null, replaceState: () => undefined }, closed, tab('n0nce'))).toEqual({
      kind: 'token',
      onboarding: false,
    })
  })

  describe('finding 9: a token that this tab did not ask for', () => {
    const unasked = { kind: 'unasked', token: 't0k', onboarding: false }

    test.each([
      ['comes without a nonce', '/auth/callback?token=t0k', tab('n0nce')],
      ['comes with a nonce that is made up', '/auth/callback?token=t0k&nonce=guessed', tab('n0nce')],
      ['comes to a tab that began no sign-in', '/auth/callback?token=t0k&nonce=n0nce', tab()],
    ])('is not kept, but asked about, when it %s', (_, address, nonces) => {
      const { outcome, kept, addresses } = browser(address, nonces)
      expect(outcome).toEqual(unasked)
      expect(kept.size).toBe(0)
      expect(addresses).toEqual(['/auth/callback'])
    })

    test('is not kept when the nonce was used before', () => {
      const nonces = tab('n0nce')
      expect(browser('/auth/callback?token=t1&nonce=n0nce', nonces).outcome).toMatchObject({ kind: 'token' })
      expect(browser('/auth/callback?token=t0k&nonce=n0nce', nonces)).toMatchObject({ outcome: unasked })
    })

    test('is not kept by a browser whose tabs keep nothing', () => {
      const closed = {
        ...tab(),
        getItem: () => {
          throw new DOMException('no', 'SecurityError')
        },
      }
      expect(browser('/auth/callback?token=t0k&nonce=n0nce', closed).outcome).toEqual(unasked)
    })
  })
})
