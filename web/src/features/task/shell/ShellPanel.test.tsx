// @vitest-environment jsdom
import { act, waitFor } from '@testing-library/react'
import { io, type Socket } from 'socket.io-client'
import { expect, test, vi } from 'vitest'
import type { ClientEvents, ServerEvents } from '#domain/api/socket.schema.ts'
import { openPart } from '../../../../../tests/client/page.tsx'
import { taskOf } from '../../../../../tests/client/samples.ts'
import { connectionChanged } from '../../../live/connection.ts'
import type { Live } from '../../../live/live.ts'
import { LiveProvider } from '../../../live/LiveContext.tsx'
import { createTerminalLog } from '../terminal/log/terminalLog.ts'
import { ShellPanel } from './ShellPanel.tsx'

const focus = vi.hoisted(() => vi.fn<() => void>())
vi.mock('./shellScreen.ts', () => ({
  openShellScreen: () => ({
    show: () => undefined,
    fit: () => ({ rows: 24, columns: 80 }),
    focus,
    close: () => undefined,
  }),
}))

/** A connection to a server that opens every shell. */
function liveWithShells(): Live {
  const socket: Socket<ServerEvents, ClientEvents> = io('http://127.0.0.1:9', { autoConnect: false })
  vi.spyOn(socket, 'emit').mockImplementation((...said: unknown[]) => {
    const tell = said.at(-1)
    const opening = { opened: true, shellId: 'shell-1', shared: true }
    if (typeof tell === 'function') queueMicrotask(() => void Reflect.apply(tell, undefined, [null, opening]))
    return socket
  })
  const nothing = () => undefined
  const join = () => Promise.reject(new Error('A shell joins no room.'))
  return {
    begin: nothing,
    enter(viewer) {
      viewer.connected(join, { isConnected: () => true, join, leave: nothing, raw: socket, close: nothing })
      return nothing
    },
  }
}

test.each([
  ['nowhere', 'body', 1],
  ['on the page', '#main', 1],
  ['on its tab', '#task-tab-shell', 1],
  ['in its panel', '#task-panel-shell button', 1],
  ['where a message is written', 'textarea', 0],
] as const)(
  'a shell that is connected again while the focus is %s (%s) takes it %i times',
  async (_where, place, times) => {
    focus.mockClear()
    const { store } = openPart(
      <LiveProvider live={liveWithShells()}>
        <main id="main" tabIndex={-1}>
          <textarea aria-label="Message" />
          <button id="task-tab-shell" type="button">
            Shell
          </button>
          <div id="task-panel-shell">
            <ShellPanel task={taskOf(1)} open={{ terminal: createTerminalLog() }} />
          </div>
        </main>
      </LiveProvider>,
    )
    act(() => void store.dispatch(connectionChanged('connected')))
    await waitFor(() => expect(focus).toHaveBeenCalled())
    act(() => void store.dispatch(connectionChanged('disconnected')))
    focus.mockClear()
    const element = document.querySelector<HTMLElement>(place)
    if (element === null) throw new Error(`There is no ${place}.`)
    act(() => element.focus())
    expect(document.activeElement).toBe(element)
    act(() => void store.dispatch(connectionChanged('connected')))
    expect(focus).toHaveBeenCalledTimes(times)
  },
)
