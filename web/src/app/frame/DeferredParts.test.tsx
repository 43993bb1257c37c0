// @vitest-environment jsdom
import { cleanup, render, waitFor } from '@testing-library/react'
import { Provider } from 'react-redux'
import { expect, onTestFinished, test } from 'vitest'
import { clientStore } from '../../../../tests/client/page.tsx'
import { ada, taskOf } from '../../../../tests/client/samples.ts'
import { fakeServer } from '../../../../tests/client/server.ts'
import { tokenKey } from '../../api/tokenStore.ts'
import { usePageTitle } from '../../features/tasks/usePageTitle.ts'
import { badgedIcon, RunningFavicon } from './DeferredParts.tsx'

function Page() {
  usePageTitle('Settings')
  return <RunningFavicon />
}

test('how many tasks run is in the title and on the icon of the tab, until nobody is signed in', async () => {
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
  fakeServer({ 'GET /auth/me': { user: ada }, 'GET /tasks': { tasks: [...running, taskOf(3)], next: null } })
  const { unmount } = render(
    <Provider store={clientStore()}>
      <Page />
    </Provider>,
  )
  await waitFor(() => expect(document.title).toBe('(2) Settings · Flightdeck'))
  expect(icon.getAttribute('href')).toBe(badgedIcon(2))
  // The frame of the pages goes with who is logged out.
  unmount()
  expect(icon.getAttribute('href')).toBe('/favicon.svg')
})

test('more than nine are said to be more', () => {
  expect(decodeURIComponent(badgedIcon(9))).toContain('>9<')
  expect(decodeURIComponent(badgedIcon(10))).toContain('>9+<')
})
