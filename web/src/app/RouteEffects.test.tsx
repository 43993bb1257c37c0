// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPage } from '../../../tests/client/page.tsx'

test('a page view is told at the start and on every change of the route, and not when only the query changes', async () => {
  const told: unknown[] = []
  const sendBeacon = async (_address: string | URL, body?: BodyInit | null) => {
    if (body instanceof Blob) told.push(JSON.parse(await body.text()))
  }
  Object.defineProperty(navigator, 'sendBeacon', { configurable: true, value: sendBeacon })
  onTestFinished(() => void Reflect.deleteProperty(navigator, 'sendBeacon'))

  openPage('/settings')
  fireEvent.click(await screen.findByRole('tab', { name: 'GitHub' }))
  const [projects] = screen.getAllByRole('link', { name: 'Projects' })
  if (projects === undefined) throw new Error('There is no way to the projects.')
  fireEvent.click(projects)
  await screen.findByRole('heading', { level: 1, name: 'Manage Projects' })
  const [create] = screen.getAllByRole('link', { name: 'Create New Project' })
  if (create === undefined) throw new Error('There is no way to a new project.')
  fireEvent.click(create)
  await vi.waitFor(() =>
    expect(told).toEqual([{ route: '/settings' }, { route: '/projects' }, { route: '/projects/new' }]),
  )
})
