import { configureStore, createAction } from '@reduxjs/toolkit'
import { afterEach, expect, test, vi } from 'vitest'
import { sessionEnded, sessionStarted } from '../api/session.ts'
import { connectionReducer } from './connection.ts'
import { createLive } from './live.ts'
import type { openSocket } from './socket.ts'

afterEach(() => void vi.useRealTimers())

const known = createAction('known')
const close = vi.fn<() => void>()
const open = vi.fn<typeof openSocket>(() => ({
  isConnected: () => false,
  join: async () => ({ joined: true, resync: false, position: null }),
  leave: () => undefined,
  close,
}))

/** A client for which loading the socket's chunk fails this many times. */
function client(failures: number) {
  vi.useFakeTimers()
  open.mockClear()
  close.mockClear()
  const loadSocket = vi.fn<() => Promise<{ openSocket: typeof openSocket }>>(async () => {
    if (loadSocket.mock.calls.length <= failures) throw new TypeError('Failed to fetch')
    return { openSocket: open }
  })
  const { live, middleware } = createLive({ userKnown: known.match, loadSocket })
  const store = configureStore({
    reducer: { connection: connectionReducer },
    middleware: (defaults) => defaults().prepend(middleware),
  })
  return { store, loadSocket, live }
}

test('a connection whose code did not come is said to be lost, and made when it comes', async () => {
  const { store, live } = client(2)
  live.begin()
  store.dispatch(known())
  await vi.advanceTimersByTimeAsync(0)
  expect(store.getState().connection).toMatchObject({ status: 'disconnected', since: expect.any(Number) })
  await vi.advanceTimersByTimeAsync(3_000)
  expect(open).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(open).toHaveBeenCalledOnce()
})

test('a connection whose code did not come twice asks the person to reload the page', async () => {
  const { store, live } = client(2)
  live.begin()
  store.dispatch(known())
  await vi.advanceTimersByTimeAsync(0)
  expect(store.getState().connection.refusal).toBeNull()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(store.getState().connection.refusal).toContain('reload the page')
})

test('its code is not asked for any more by who was logged out', async () => {
  const { store, loadSocket, live } = client(9)
  live.begin()
  store.dispatch(known())
  await vi.advanceTimersByTimeAsync(0)
  store.dispatch(sessionEnded('logout'))
  await vi.advanceTimersByTimeAsync(30_000)
  expect(loadSocket).toHaveBeenCalledOnce()
  expect(open).not.toHaveBeenCalled()
})

test('it waits for the page: nothing is asked for before that is drawn', async () => {
  const { store, loadSocket, live } = client(0)
  store.dispatch(known())
  await vi.advanceTimersByTimeAsync(10_000)
  expect(loadSocket).not.toHaveBeenCalled()
  live.begin()
  await vi.advanceTimersByTimeAsync(0)
  expect(open).toHaveBeenCalledOnce()
})

test('finding low: the connection of one person is closed, and another made, when somebody else signs in from another tab', async () => {
  const { store, live } = client(0)
  live.begin()
  store.dispatch(known())
  await vi.advanceTimersByTimeAsync(0)
  store.dispatch(sessionStarted())
  expect(close).toHaveBeenCalledOnce()
  store.dispatch(known())
  await vi.advanceTimersByTimeAsync(0)
  expect(open).toHaveBeenCalledTimes(2)
})
