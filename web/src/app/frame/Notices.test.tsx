// @vitest-environment jsdom
import { act, fireEvent, screen } from '@testing-library/react'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openPart } from '../../../../tests/client/page.tsx'
import { Notices } from './Notices.tsx'

const notice = 'Agents run without a sandbox on this server: they can read all that it can.'
let measure: (() => void) | undefined
beforeEach(() => {
  measure = undefined
  sessionStorage.clear()
})

/** The notices in a window in which a line is so much wider than its place. */
async function open(tooWide: number) {
  // jsdom lays nothing out.
  const width = vi.spyOn(Element.prototype, 'scrollWidth', 'get').mockReturnValue(tooWide)
  onTestFinished(() => width.mockRestore())
  openPart(<Notices />, { 'GET /notices': { notices: [notice] } })
  vi.stubGlobal('ResizeObserver', Measuring)
  await screen.findByText(notice)
  act(() => measure?.())
}
class Measuring implements ResizeObserver {
  constructor(told: () => void) {
    measure = told
  }
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

test('words that are cut off are shown whole to who touches them, and cut off again', async () => {
  await open(10)
  const words = screen.getByRole('button', { name: notice })
  const line = screen.getByText(notice)
  expect(line.className).toContain('truncate')
  fireEvent.click(words)
  expect(words.getAttribute('aria-expanded')).toBe('true')
  expect(line.className).not.toContain('truncate')
  fireEvent.click(words)
  expect(words.getAttribute('aria-expanded')).toBe('false')
})

test('words that fit are just words', async () => {
  await open(0)
  expect(screen.queryByRole('button', { name: notice })).toBeNull()
})
