import { expect, test, vi } from 'vitest'
import { request } from './request.ts'

// Holds contract 7.1b, 9.1.
test('a call is given up after 30 s', async () => {
  const late = new AbortController()
  const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal)
  const answer = request(
    { method: 'GET', path: '/tasks', fallback: 'Failed to fetch tasks' },
    {
      fetch: (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('It was ended.')))
        }),
      token: null,
      signal: new AbortController().signal,
      newId: () => 'id-1',
    },
  )
  expect(limit.mock.calls).toEqual([[30_000]])
  late.abort()
  expect(await answer).toMatchObject({ error: { code: 'timeout', message: 'Failed to fetch tasks' } })
  limit.mockRestore()
})
