// @vitest-environment jsdom
import { cleanup, renderHook } from '@testing-library/react'
import { Provider } from 'react-redux'
import { afterEach, expect, test, vi } from 'vitest'
import { ada } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { createStore } from '../../app/store.ts'
import { authApi } from './authApi.ts'
import { useLogout } from './useLogout.ts'

// No live connection is opened here.
vi.mock('../../live/socket.ts', () => ({ openSocket: () => ({ close: () => undefined }) }))
afterEach(() => {
  cleanup()
  localStorage.clear()
})

// Holds contract 4.9c.
test('logging out forgets the token and who was signed in, at once', async () => {
  localStorage.setItem(tokenKey, 'token-1')
  const server = fakeServer({
    'GET /auth/me': { user: ada },
    'POST /auth/logout': new Promise(() => undefined),
  })
  const { store } = createStore(true)
  const user = () => authApi.endpoints.me.select()(store.getState()).data?.user
  await store.dispatch(authApi.endpoints.me.initiate(undefined, { subscribe: false }))
  expect(user()).toEqual(ada)
  const { result } = renderHook(() => useLogout(), {
    wrapper: ({ children }) => <Provider store={store}>{children}</Provider>,
  })
  result.current()
  expect(localStorage.getItem(tokenKey)).toBeNull()
  expect(store.getState().session).toMatchObject({ signedIn: false, end: 'logout' })
  expect(user()).toBeUndefined()
  // The request carries the token that was stored before the logout.
  expect(server.of('POST /auth/logout').map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
})
