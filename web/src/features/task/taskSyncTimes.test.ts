// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clientStore, openTaskAnswers } from '../../../../tests/client/page.tsx'
import { taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { createWriting } from './chat/streamingText.ts'
import { openTaskSync } from './taskSync.ts'
import { createTerminalLog } from './terminal/log/terminalLog.ts'

const task = taskOf(1)
const at = `/tasks/${task.id}`

beforeEach(() => {
  vi.useFakeTimers()
  localStorage.setItem(tokenKey, 'token')
})
afterEach(() => {
  vi.useRealTimers()
  localStorage.clear()
})

// Holds contract 9.18; screens 2.44.
test('a task is loaded 100 ms after it was opened, then its chat, its tool calls and its output together', async () => {
  const server = fakeServer(openTaskAnswers(task))
  const room = openTaskSync(task.id, {
    dispatch: clientStore().dispatch,
    live: {
      begin: () => undefined,
      enter: (viewer) => {
        viewer.connected(async () => ({ joined: true, resync: false, position: null }))
        return () => undefined
      },
    },
    terminal: createTerminalLog(),
    writing: createWriting(),
    needsRefresh: () => false,
    isCommand: () => false,
  })
  await vi.advanceTimersByTimeAsync(99)
  expect(server.asked).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  const paths = server.asked.map(({ path }) => path)
  expect(paths[0]).toBe(at)
  expect(new Set(paths.slice(1))).toEqual(
    new Set([`${at}/chat`, `${at}/commands`, `${at}/questions`, `${at}/terminal`]),
  )
  room.close()
})
