// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, onTestFinished, test } from 'vitest'
import { openPage } from '../../../tests/client/page.tsx'
import { taskOf } from '../../../tests/client/samples.ts'
import { badgedIcon } from './badgedIcon.ts'

test('how many tasks run is in the title and on the icon of the tab, until nobody is signed in', async () => {
  const icon = document.createElement('link')
  icon.rel = 'icon'
  icon.href = '/favicon.svg'
  document.head.append(icon)
  onTestFinished(() => icon.remove())
  const running = [1, 2].map((n) => taskOf(n, { status: 'running', progress: 5 }))
  openPage('/settings', { answers: { 'GET /tasks': { tasks: [...running, taskOf(3)], next: null } } })
  await waitFor(() => expect(document.title).toBe('(2) Settings · Flightdeck'))
  expect(icon.getAttribute('href')).toBe(badgedIcon(2))
  const [logout] = screen.getAllByRole('button', { name: 'Logout' })
  if (logout === undefined) throw new Error('There is no way out.')
  fireEvent.click(logout)
  await screen.findByRole('heading', { name: 'Welcome Back' })
  expect(icon.getAttribute('href')).toBe('/favicon.svg')
})

test('more than nine are said to be more', () => {
  expect(decodeURIComponent(badgedIcon(9))).toContain('>9<')
  expect(decodeURIComponent(badgedIcon(10))).toContain('>9+<')
})
