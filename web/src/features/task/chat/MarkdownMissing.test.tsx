// @vitest-environment jsdom
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { MarkdownText } from './MessageBody.tsx'

vi.mock('./Markdown.tsx', () => {
  throw new Error('The server went away.')
})
afterEach(cleanup)

test('what an agent said is shown as it is written when Markdown does not arrive', async () => {
  render(<MarkdownText text="It is **done**." />)
  await vi.dynamicImportSettled()
  expect(await screen.findByText('It is **done**.')).toBeTruthy()
})
