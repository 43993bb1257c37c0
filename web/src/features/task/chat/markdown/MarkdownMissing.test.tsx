// @vitest-environment jsdom
import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'

vi.mock('./Markdown.tsx', () => {
  throw new Error('The server went away.')
})
afterEach(cleanup)

test('what an agent said is shown as it is written when Markdown does not arrive', async () => {
  // Another test file may have loaded the module before.
  vi.resetModules()
  const { MarkdownText } = await import('../entries/MessageBody.tsx')
  render(<MarkdownText text="It is **done**." />)
  await act(() => vi.dynamicImportSettled())
  await act(async () => undefined)
  expect(screen.getByText('It is **done**.')).toBeTruthy()
})
