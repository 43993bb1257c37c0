// @vitest-environment jsdom
import { act, cleanup, render, screen } from '@testing-library/react'
import { Provider } from 'react-redux'
import { afterEach, expect, test, vi } from 'vitest'
import { clientStore } from '../../../../tests/client/page.tsx'
import { notified, selectNotifications } from './notifications.ts'
import { Toasts } from './Toasts.tsx'

afterEach(() => {
  cleanup()
  vi.useRealTimers()
})

test('github 3 (SSO): the link of a refusal can be followed', async () => {
  const store = clientStore()
  render(
    <Provider store={store}>
      <Toasts />
    </Provider>,
  )
  const link = 'https://github.com/orgs/acme/sso?authorization_request=A1'
  act(
    () => void store.dispatch(notified('error', 'Failed', `Open ${link}, then try again. Not javascript:x.`)),
  )
  const shown = await screen.findAllByRole('link')
  expect(shown.map((one) => [one.textContent, one.getAttribute('href')])).toEqual([[link, link]])
})

test('a success is added to a list that is read out, and an error is an alert that the list leaves to itself', async () => {
  const store = clientStore()
  render(
    <Provider store={store}>
      <Toasts />
    </Provider>,
  )
  const list = screen.getByRole('list', { name: 'Notifications' })
  expect(list.getAttribute('aria-live')).toBe('polite')
  expect(list.className).not.toContain('hidden')
  act(() => void store.dispatch(notified('success', 'Saved')))
  const saved = await screen.findByText('Saved')
  expect(saved.closest('[role], [aria-live]')).toBe(list)
  act(() => void store.dispatch(notified('error', 'Not saved')))
  const alert = (await screen.findByText('Not saved')).closest('[role]')
  expect(alert?.getAttribute('role')).toBe('alert')
  expect(alert?.parentElement?.closest('[aria-live]')?.getAttribute('aria-live')).toBe('off')
})

// Holds contract 3.17, 9.6.
test.each([
  ['success', 5_000],
  ['warning', 5_000],
  ['info', 5_000],
  ['error', 7_000],
] as const)('a notification of type %s goes by itself after %i ms', async (type, duration) => {
  const store = clientStore()
  render(
    <Provider store={store}>
      <Toasts />
    </Provider>,
  )
  // The component that draws a toast is a chunk of its own.
  await import('../../ui/overlay/Toast.tsx')
  vi.useFakeTimers()
  act(() => void store.dispatch(notified(type, 'The title', 'The message')))
  await act(() => vi.advanceTimersByTimeAsync(0))
  expect(selectNotifications(store.getState())).toEqual([
    { id: expect.any(String), type, title: 'The title', message: 'The message', duration },
  ])
  expect(screen.getByText('The title')).toBeTruthy()
  expect(screen.getByText('The message')).toBeTruthy()
  await act(() => vi.advanceTimersByTimeAsync(duration - 1))
  expect(screen.queryByText('The title')).not.toBeNull()
  await act(() => vi.advanceTimersByTimeAsync(1))
  expect(screen.queryByText('The title')).toBeNull()
})
