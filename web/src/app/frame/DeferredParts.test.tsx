// @vitest-environment jsdom
import { act, cleanup, render, screen, waitFor } from '@testing-library/react'
import { Provider } from 'react-redux'
import { expect, onTestFinished, test, vi } from 'vitest'
import { clientStore, openPart } from '../../../../tests/client/page.tsx'
import { ada, taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { aboutServerApi } from '../../api/aboutServerApi.ts'
import { api } from '../../api/api.ts'
import { AgentPicker } from '../../features/agents/AgentPicker.tsx'
import { Toasts } from '../../features/notifications/Toasts.tsx'
import { usePageTitle } from '../../features/tasks/usePageTitle.ts'
import { ChunkLoadError } from '../../ui/inTime.ts'
import { badgedIcon, DeferredParts, RunningFavicon } from './DeferredParts.tsx'

function Page() {
  usePageTitle('Settings')
  return <RunningFavicon />
}

test('how many tasks run, or wait for the person, is in the title and on the icon of the tab, until nobody is signed in', async () => {
  const icon = document.createElement('link')
  icon.rel = 'icon'
  icon.href = '/favicon.svg'
  document.head.append(icon)
  localStorage.setItem(tokenKey, 'token-of-ada')
  onTestFinished(() => {
    cleanup()
    icon.remove()
    localStorage.clear()
  })
  const running = [1, 2].map((n) => taskOf(n, { status: 'running', progress: 5 }))
  const server = fakeServer({
    'GET /auth/me': { user: ada },
    'GET /tasks': { tasks: [...running, taskOf(3)], next: null },
  })
  const store = clientStore()
  const { unmount } = render(
    <Provider store={store}>
      <Page />
    </Provider>,
  )
  await waitFor(() => expect(document.title).toBe('(2) Settings · Flightdeck'))
  expect(icon.getAttribute('href')).toBe(badgedIcon(2))
  server.answer({
    'GET /tasks': { tasks: [taskOf(1, { status: 'running', waitingFor: 'plan' }), taskOf(2)], next: null },
  })
  act(() => void store.dispatch(api.util.invalidateTags(['Tasks'])))
  await waitFor(() => expect(document.title).toBe('(1 waiting) Settings · Flightdeck'))
  expect(icon.getAttribute('href')).toBe(badgedIcon(1, 'warn'))
  // Logging out removes the frame of the pages.
  unmount()
  expect(icon.getAttribute('href')).toBe('/favicon.svg')
})

test('more than nine are said to be more', () => {
  expect(decodeURIComponent(badgedIcon(9))).toContain('>9<')
  expect(decodeURIComponent(badgedIcon(10))).toContain('>9+<')
})

test('nothing is polled while the page is hidden', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const hidden = vi.spyOn(document, 'hidden', 'get')
  onTestFinished(() => {
    vi.useRealTimers()
    hidden.mockRestore()
  })
  const { server, store } = openPart(
    <>
      <DeferredParts />
      <AgentPicker label="Agent" agent="claude" onChoose={() => undefined} />
    </>,
    {
      'GET /agents': { agents: [] },
      'GET /auth/me': { user: ada },
      'GET /tasks': { tasks: [], next: null },
    },
  )
  const polledIn = async (isHidden: boolean) => {
    hidden.mockReturnValue(isHidden)
    document.dispatchEvent(new Event('visibilitychange'))
    const before = server.of('GET /agents').length
    await act(() => vi.advanceTimersByTimeAsync(60_000))
    return server.of('GET /agents').length - before
  }
  const isRead = () => aboutServerApi.endpoints.agents.select()(store.getState()).isSuccess
  await vi.waitFor(() => expect(isRead()).toBe(true))
  expect(await polledIn(false)).toBe(1)
  expect(await polledIn(true)).toBe(0)
  expect(await polledIn(false)).toBe(1)
})

test('parts that failed to load are told of once', async () => {
  openPart(
    <>
      <DeferredParts />
      <Toasts />
    </>,
    { 'GET /tasks': { tasks: [], next: null } },
  )
  for (let part = 0; part < 2; part += 1) {
    const error = new ChunkLoadError('The page could not be loaded.')
    const event = new ErrorEvent('error', { error, cancelable: true })
    act(() => void window.dispatchEvent(event))
    expect(event.defaultPrevented).toBe(true)
  }
  expect(await screen.findAllByText("Couldn't load this page")).toHaveLength(1)
})
