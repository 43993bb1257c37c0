// @vitest-environment jsdom
import type { UnknownAction } from '@reduxjs/toolkit'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { tokenKey } from '../api/tokenStore.ts'
import { connectionReducer, type ConnectionState } from './connection.ts'
import { openSocket } from './socket.ts'

const { io, server } = vi.hoisted(() => {
  type Listener = (payload?: unknown) => void
  const server = {
    listeners: new Map<string, Listener>(),
    emitted: [] as unknown[][],
    connected: false,
    /** Whether the client tries again by itself. */
    active: true,
  }
  const socket = {
    io: { on: (name: string, listener: Listener) => server.listeners.set(name, listener) },
    on: (name: string, listener: Listener) => server.listeners.set(name, listener),
    emit: (...said: unknown[]) => server.emitted.push(said),
    connect: () => undefined,
    disconnect: () => undefined,
    get connected() {
      return server.connected
    },
    get active() {
      return server.active
    },
  }
  return { io: vi.fn<(options: unknown) => typeof socket>(() => socket), server }
})
vi.mock('socket.io-client', () => ({ io }))

beforeEach(() => {
  io.mockClear()
  Object.assign(server, { emitted: [], connected: false, active: true })
})

function opened() {
  const actions: UnknownAction[] = []
  const heard: unknown[] = []
  const hear = (...said: unknown[]) => void heard.push(said)
  const socket = openSocket({
    dispatch: (action) => {
      actions.push(action)
      return action
    },
    onConnect: hear,
    onTaskMessage: hear,
  })
  const tells = (name: string, payload?: unknown) => server.listeners.get(name)?.(payload)
  const state = () => actions.reduce<ConnectionState | undefined>(connectionReducer, undefined)
  const status = () => state()?.status
  return { socket, heard, tells, state, status }
}

describe('the live connection', () => {
  // Holds contract 7.35, 9.2.
  test('is to the host of the page, with credentials, by websocket and then polling, and is given up after 20 s', () => {
    localStorage.setItem(tokenKey, 'token-1')
    opened()
    expect(io).toHaveBeenCalledOnce()
    // Without an address, the socket connects to the host of the page.
    expect(io.mock.calls[0]).toHaveLength(1)
    expect(io.mock.calls[0]?.[0]).toMatchObject({
      withCredentials: true,
      transports: ['websocket', 'polling'],
      timeout: 20_000,
    })
    const options: unknown = io.mock.calls[0]?.[0]
    const give = vi.fn<(credentials: unknown) => void>()
    Reflect.apply(Object(Reflect.get(Object(options), 'auth')), undefined, [give])
    expect(give).toHaveBeenCalledWith({ token: 'token-1', knowsWords: true })
  })

  // Holds contract 4.8.
  test('is connecting, connected, disconnected, or in error when the server says no', () => {
    const { tells, status } = opened()
    expect(status()).toBe('connecting')
    tells('connect')
    expect(status()).toBe('connected')
    tells('disconnect', 'transport close')
    expect(status()).toBe('disconnected')
    server.active = false
    tells('connect_error', new Error('Sign in to continue.'))
    expect(status()).toBe('error')
  })

  test('security L3: why the server said no is kept, until it stands again', () => {
    const { tells, state } = opened()
    server.active = false
    tells('connect_error', new Error('You have 200 live connections open.'))
    expect(state()?.refusal).toBe('You have 200 live connections open.')
    tells('connect')
    expect(state()?.refusal).toBeNull()
  })

  test('is said to be in doubt when the server is silent for three seconds, and to stand when it is heard', () => {
    vi.useFakeTimers()
    const { tells, state } = opened()
    const quietAfter = (ms: number) => {
      vi.advanceTimersByTime(ms)
      return state()?.quiet
    }
    tells('connect')
    expect(quietAfter(2_000)).toBe(false)
    tells('ping')
    expect(quietAfter(2_000)).toBe(false)
    expect(quietAfter(1_000)).toBe(true)
    expect(state()?.status).toBe('connected')
    tells('ping')
    expect(state()?.quiet).toBe(false)
    tells('disconnect', 'transport close')
    expect(quietAfter(10_000)).toBe(false)
    vi.useRealTimers()
  })

  // Holds contract 5.10b, 5.10c.
  test('says nothing while it does not stand, and logs that it could not', () => {
    const { socket } = opened()
    const warned = vi.spyOn(console, 'warn').mockReturnValue(undefined)
    socket.leave('t1')
    expect(server.emitted).toEqual([])
    expect(warned.mock.calls).toEqual([['Cannot emit event: WebSocket not connected']])
    warned.mockRestore()
    server.connected = true
    socket.leave('t1')
    expect(server.emitted).toEqual([['leave_task', 't1']])
  })
})
