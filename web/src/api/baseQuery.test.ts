// @vitest-environment jsdom
import { configureStore } from '@reduxjs/toolkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { api } from './api.ts'
import { prefetch } from './prefetched.ts'
import { initialSession, readsAwait, selectSessionEnd, selectSignedIn, sessionReducer } from './session.ts'
import { tokenKey } from './tokenStore.ts'

const testApi = api.injectEndpoints({
  endpoints: (build) => ({
    read: build.query<unknown, string>({ query: (path) => ({ method: 'GET', path, fallback: 'Failed' }) }),
    readAt: build.query<unknown, string>({
      query: (minPosition) => ({ method: 'GET', path: '/tasks', query: { minPosition }, fallback: 'Failed' }),
    }),
    write: build.mutation<unknown, string>({
      query: (path) => ({ method: 'POST', path, fallback: 'Failed' }),
    }),
  }),
})

function client() {
  return configureStore({
    reducer: { [api.reducerPath]: api.reducer, session: sessionReducer },
    preloadedState: { session: { ...initialSession, signedIn: localStorage.getItem(tokenKey) !== null } },
    middleware: (defaults) => defaults().concat(api.middleware),
  })
}
const read = (store: ReturnType<typeof client>, path: string) =>
  store.dispatch(testApi.endpoints.read.initiate(path, { subscribe: false, forceRefetch: true }))

const fetch = vi.fn<typeof globalThis.fetch>()
const answers = (status: number, body: unknown = {}) =>
  fetch.mockImplementation(async () => new Response(JSON.stringify(body), { status }))

beforeEach(() => {
  localStorage.setItem(tokenKey, 'token-1')
  vi.stubGlobal('fetch', fetch)
})
afterEach(() => {
  localStorage.clear()
  vi.unstubAllGlobals()
  fetch.mockReset()
})

describe('an answer of 401', () => {
  test('ends the session: the token goes, and nobody is signed in', async () => {
    answers(401, { error: 'Sign in to continue.' })
    const store = client()
    await read(store, '/tasks')
    expect(localStorage.getItem(tokenKey)).toBeNull()
    expect(selectSignedIn(store.getState())).toBe(false)
    expect(selectSessionEnd(store.getState())).toBe('unauthorised')
  })

  // Holds contract 8.10b.
  test.each(['/github/repos', '/github/user', '/projects/p1/branches', '/auth/disconnect-github'])(
    'of %s clears nothing: it is the code host that refuses',
    async (path) => {
      answers(401)
      const store = client()
      await read(store, path)
      expect(localStorage.getItem(tokenKey)).toBe('token-1')
      expect(selectSignedIn(store.getState())).toBe(true)
    },
  )

  test('to the token of before says nothing of the token of now', async () => {
    const store = client()
    fetch.mockImplementation(async () => {
      localStorage.setItem(tokenKey, 'token-2')
      return new Response('{}', { status: 401 })
    })
    await read(store, '/tasks')
    expect(localStorage.getItem(tokenKey)).toBe('token-2')
    expect(selectSignedIn(store.getState())).toBe(true)
  })
})

describe('the client', () => {
  test('asks for nothing without a token', async () => {
    localStorage.clear()
    const answer = await read(client(), '/tasks')
    expect(fetch).not.toHaveBeenCalled()
    expect(answer.error).toMatchObject({ status: 401 })
  })

  test('any other refusal leaves the session alone', async () => {
    answers(503, { error: 'Later.' })
    const store = client()
    expect((await read(store, '/tasks')).error).toMatchObject({ status: 503, message: 'Later.' })
    expect(selectSignedIn(store.getState())).toBe(true)
  })

  test('reads after a write that was not projected in time wait for it', async () => {
    const store = client()
    answers(201, { position: '42', stale: true })
    await store.dispatch(testApi.endpoints.write.initiate('/tasks'))
    answers(200, {})
    await read(store, '/tasks')
    expect(String(fetch.mock.calls.at(-1)?.[0])).toBe('/api/tasks?minPosition=42')
    // An earlier position changes nothing, and positions are compared as numbers.
    store.dispatch(readsAwait('5'))
    await read(store, '/projects')
    expect(String(fetch.mock.calls.at(-1)?.[0])).toBe('/api/projects?minPosition=42')
    store.dispatch(readsAwait('100'))
    await read(store, '/users')
    expect(String(fetch.mock.calls.at(-1)?.[0])).toBe('/api/users?minPosition=100')
  })

  test('reads wait for the later of two positions: the last known one, and their own', async () => {
    const store = client()
    answers(200, {})
    store.dispatch(readsAwait('42'))
    for (const own of ['5', '100'])
      await store.dispatch(testApi.endpoints.readAt.initiate(own, { subscribe: false, forceRefetch: true }))
    expect(fetch.mock.calls.map(([address]) => address)).toEqual([
      '/api/tasks?minPosition=42',
      '/api/tasks?minPosition=100',
    ])
  })

  test('reads do without a position that the server does not reach, as after a restore of its log', async () => {
    const store = client()
    fetch.mockImplementation(async (address) => {
      const waits = String(address).includes('minPosition')
      return new Response(JSON.stringify({ tasks: [] }), { status: waits ? 504 : 200 })
    })
    store.dispatch(readsAwait('42'))
    expect((await read(store, '/tasks')).data).toEqual({ tasks: [] })
    await read(store, '/projects')
    expect(fetch.mock.calls.map(([address]) => address)).toEqual([
      '/api/tasks?minPosition=42',
      '/api/tasks',
      '/api/projects',
    ])
  })
})

test('a read that was sent ahead is not sent again, and the next one is', async () => {
  answers(200, { ok: true })
  void prefetch('/api/auth/me', 'token-1')
  const store = client()
  expect((await read(store, '/auth/me')).data).toEqual({ ok: true })
  expect(fetch).toHaveBeenCalledOnce()
  await read(store, '/auth/me')
  expect(fetch).toHaveBeenCalledTimes(2)
})
