// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { Link, MemoryRouter } from 'react-router-dom'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tellPageView } from './pageView.ts'
import { RouteEffects } from './RouteEffects.tsx'

// Holds screens 2.17.
test('a page view is told at the start and on every change of the route, and not when only the query changes', async () => {
  const told: unknown[] = []
  const sendBeacon = async (_address: string | URL, body?: BodyInit | null) => {
    if (body instanceof Blob) told.push(JSON.parse(await body.text()))
  }
  Object.defineProperty(navigator, 'sendBeacon', { configurable: true, value: sendBeacon })
  vi.stubGlobal('matchMedia', () => ({ matches: true }))
  vi.stubGlobal('scrollTo', () => undefined)
  onTestFinished(() => {
    cleanup()
    Reflect.deleteProperty(navigator, 'sendBeacon')
    vi.unstubAllGlobals()
  })
  render(
    <MemoryRouter initialEntries={['/settings']}>
      <RouteEffects onPageView={tellPageView} />
      <Link to="/settings?tab=github">GitHub</Link>
      <Link to="/tasks/0192f0c1-7e1b-7000-8000-000000000001">A task</Link>
      <Link to="/no/such/page">Nowhere</Link>
    </MemoryRouter>,
  )
  for (const name of ['GitHub', 'A task', 'Nowhere']) fireEvent.click(screen.getByText(name))
  await vi.waitFor(() =>
    expect(told).toEqual([{ route: '/settings' }, { route: '/tasks/:taskId' }, { route: 'other' }]),
  )
})
