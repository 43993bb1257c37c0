// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { Provider } from 'react-redux'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientStore } from '../../../../../tests/client/page.tsx'
import { messageOf, taskOf } from '../../../../../tests/client/samples.ts'
import { ActionsProvider } from '../../../actions/ActionsContext.tsx'
import { connectionChanged } from '../../../live/connection.ts'
import { Toasts } from '../../notifications/Toasts.tsx'
import { chatLoaded, taskOpened } from '../taskSlice.ts'
import { TerminalPanel } from './TerminalPanel.tsx'
import { createTerminalLog } from './log/terminalLog.ts'

const printed = [
  '\u001B[1m$ npm test\u001B[0m\n',
  'an \u001B[31merror\u001B[0m\nfine\n',
  '\u001B]133;D;2\u0007An Error was found.\n',
].map((content, index) => ({
  taskId: 't',
  timestamp: `2026-11-21T10:00:0${index}.000Z`,
  content,
  type: 'stdout' as const,
  executionId: 'e1',
  position: String(index + 1),
  version: index,
}))

// jsdom has no layout: without a height, no row would be visible.
beforeEach(() => {
  const height = vi.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600)
  return () => height.mockRestore()
})

/** Opens a terminal that printed this output. */
async function open({ running = false, output = printed, store = clientStore() } = {}) {
  vi.stubGlobal('ResizeObserver', NoResizing)
  vi.stubGlobal('matchMedia', () => Object.assign(new EventTarget(), { matches: false }))
  const terminal = createTerminalLog()
  if (output.length > 0) await terminal.reset(output)
  render(
    <Provider store={store}>
      <ActionsProvider>
        <TerminalPanel terminal={terminal} reload={() => undefined} running={running} visible tools={null} />
        <Toasts />
      </ActionsProvider>
    </Provider>,
  )
  onTestFinished(cleanup)
  return screen.getByRole('log', { name: 'Terminal' })
}

class NoResizing implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}
const find = (log: HTMLElement) => {
  act(() => log.focus())
  fireEvent.keyDown(log, { key: 'f', ctrlKey: true })
}
const field = () => screen.getByRole('searchbox', { name: 'Find in output' })
const told = async (text: string) => waitFor(() => expect(screen.getByText(text)).toBeTruthy())

describe('finding in the output', () => {
  test('is begun by its key where the focus is in the terminal, and nowhere else', async () => {
    const log = await open()
    fireEvent.keyDown(document.body, { key: 'f', ctrlKey: true })
    expect(screen.queryByRole('searchbox', { name: 'Find in output' })).toBeNull()
    find(log)
    expect(field()).toBeTruthy()
  })

  test('counts the places, goes from one to the next and round, and marks them', async () => {
    const log = await open()
    find(log)
    fireEvent.change(field(), { target: { value: 'error' } })
    await told('1 of 2')
    expect([...log.querySelectorAll('mark')].map(({ textContent }) => textContent)).toEqual([
      'error',
      'Error',
    ])
    fireEvent.keyDown(field(), { key: 'Enter' })
    await told('2 of 2')
    fireEvent.keyDown(field(), { key: 'g', ctrlKey: true })
    await told('1 of 2')
    fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true })
    await told('2 of 2')
    fireEvent.change(field(), { target: { value: 'nothing' } })
    await told('No results')
  })

  test('ends with Escape, and the focus is in the terminal again', async () => {
    const log = await open()
    find(log)
    fireEvent.keyDown(field(), { key: 'Escape' })
    await waitFor(() => expect(screen.queryByRole('searchbox', { name: 'Find in output' })).toBeNull())
    expect(document.activeElement).toBe(log)
    expect(log.querySelector('mark')).toBeNull()
  })

  test('unfolds what the place is folded in', async () => {
    const log = await open()
    const fold = within(log).getByRole('button', { name: 'Output of this command' })
    fireEvent.click(fold)
    await waitFor(() => expect(within(log).queryByText('fine')).toBeNull())
    find(log)
    fireEvent.change(field(), { target: { value: 'fine' } })
    await told('1 of 1')
    expect(fold.getAttribute('aria-expanded')).toBe('true')
  })
})

// Holds screens 2.54a.
test('each line has its time, shown where the second changes, and a cursor stands at the end while something runs', async () => {
  const log = await open({ running: true })
  const shown = [...log.querySelectorAll('time')].map(({ dateTime, className }) => [
    dateTime.slice(17, 19),
    !className.includes('invisible'),
  ])
  expect(shown).toEqual([
    ['00', true],
    ['01', true],
    ['01', false],
    ['02', true],
  ])
  expect(log.querySelectorAll('.caret')).toHaveLength(1)
  cleanup()
  expect((await open()).querySelectorAll('.caret')).toHaveLength(0)
})

test('a command says how many lines it printed, how long it took and how it ended', async () => {
  const log = await open()
  expect(within(log).getByText('2 lines · 2.0s · exit 2')).toBeTruthy()
  expect(within(log).getByText('Failed')).toBeTruthy()
})

test('a command that was cancelled says so, and not how it was ended', async () => {
  const store = clientStore()
  const command = { messageType: 'command', isCommand: true, status: 'cancelled', executionId: 'e1' } as const
  store.dispatch(taskOpened(taskOf(1).id))
  store.dispatch(chatLoaded({ messages: [messageOf(1, command)], version: 1 }))
  const log = await open({ store })
  expect(within(log).getByText('2 lines · 2.0s · Cancelled')).toBeTruthy()
  expect(log.querySelector('[data-status=cancelled]')).not.toBeNull()
  expect(log.querySelector('[data-status=failed]')).toBeNull()
})

test.each([
  ['connected', true],
  ['disconnected', false],
] as const)('how long a command runs counts on while the connection is %s: %s', async (status, counts) => {
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'Date'],
    now: Date.UTC(2026, 10, 21, 10, 0, 5),
  })
  onTestFinished(() => void vi.useRealTimers())
  const store = clientStore()
  store.dispatch(connectionChanged(status))
  const log = await open({ running: true, output: printed.slice(0, 2), store })
  expect(within(log).getByText(/^running/).textContent).toBe('running 5s')
  act(() => void vi.advanceTimersByTime(12_000))
  expect(within(log).getByText(/^running/).textContent).toBe(counts ? 'running 17s' : 'running 5s')
})

test('it counts no lines before they are read', async () => {
  await open({ output: [] })
  expect(screen.getByText('Loading output...')).toBeTruthy()
  expect(screen.queryByText('0 lines')).toBeNull()
})

test('all of it is copied without its colours', async () => {
  const writeText = vi.fn<(text: string) => Promise<void>>(async () => undefined)
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } })
  await open()
  fireEvent.click(screen.getByRole('button', { name: 'Copy as plain text' }))
  await told('Copied')
  expect(writeText).toHaveBeenCalledWith('$ npm test\nan error\nfine\nAn Error was found.')
  Reflect.deleteProperty(navigator, 'clipboard')
})
