import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prefetch, takePrefetched } from './prefetched.ts'

const fetch = vi.fn<typeof globalThis.fetch>()
beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('fetch', fetch)
  fetch.mockImplementation(async () => new Response('{"ok":true}', { status: 200 }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  fetch.mockReset()
})

test('an answer can be taken once, by who has the token that asked', async () => {
  void prefetch('/api/auth/me', 'token-1')
  expect(fetch.mock.calls).toMatchObject([['/api/auth/me', { headers: { authorization: 'Bearer token-1' } }]])
  expect(takePrefetched('/api/auth/me', 'token-2')).toBeUndefined()
  expect(takePrefetched('/api/tasks', 'token-1')).toBeUndefined()
  const answer = await takePrefetched('/api/auth/me', 'token-1')
  expect([answer?.status, await answer?.text()]).toEqual([200, '{"ok":true}'])
  expect(takePrefetched('/api/auth/me', 'token-1')).toBeUndefined()
})

test('an answer that nobody took at once is old', async () => {
  void prefetch('/api/auth/me', 'token-1')
  await vi.advanceTimersByTimeAsync(5_001)
  expect(takePrefetched('/api/auth/me', 'token-1')).toBeUndefined()
})

test('a failure is for who takes the answer', async () => {
  fetch.mockRejectedValue(new TypeError('Failed to fetch'))
  void prefetch('/api/auth/me', 'token-1')
  await vi.advanceTimersByTimeAsync(0)
  await expect(takePrefetched('/api/auth/me', 'token-1')).rejects.toThrow('Failed to fetch')
})
