// @vitest-environment jsdom
import { cleanup, fireEvent, screen } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { openPage } from '../../../../tests/client/page.tsx'

const notice = 'Agents run without a sandbox on this server: they can read all that it can.'
const answers = {
  'GET /notices': { notices: [notice] },
  'GET /projects': { projects: [], next: null },
  'GET /tasks': { tasks: [] },
}
beforeEach(() => sessionStorage.clear())

test('notices are said in full where work begins, and not on every other page', async () => {
  openPage('/dashboard', { answers })
  expect((await screen.findByText(notice)).className).not.toContain('truncate')
  cleanup()
  openPage('/projects', { answers })
  await screen.findByRole('heading', { level: 1 })
  expect(screen.queryByText(notice)).toBeNull()
})

test('a notice that is dismissed stays away for as long as the tab lives', async () => {
  openPage('/dashboard', { answers })
  await screen.findByText(notice)
  fireEvent.click(screen.getByRole('button', { name: 'Dismiss' }))
  expect(screen.queryByText(notice)).toBeNull()
})
