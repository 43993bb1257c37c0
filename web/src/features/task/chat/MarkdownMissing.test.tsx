// @vitest-environment jsdom
import { act, cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { MarkdownText } from './MessageBody.tsx'

vi.mock('./Markdown.tsx', () => {
  throw new Error('The server went away.')
})
afterEach(cleanup)

test('what an agent said is shown as it is written when Markdown does not arrive', async () => {
  render(<MarkdownText text="It is **done**." />)
  await act(() => vi.dynamicImportSettled())
  await act(async () => undefined)
  expect(screen.getByText('It is **done**.')).toBeTruthy()
})
