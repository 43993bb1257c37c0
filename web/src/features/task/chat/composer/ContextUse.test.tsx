// @vitest-environment jsdom
import { render, screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { ContextUse } from './ContextUse.tsx'

test.each([
  [{ usedTokens: 0, windowTokens: 200_000 }, '0 %', '0 of 200k tokens'],
  [{ usedTokens: 67_001, windowTokens: 200_000 }, '34 %', '67k of 200k tokens'],
  [{ usedTokens: 1_210_000, windowTokens: 1_000_000 }, '100 %', '1.2m of 1m tokens'],
])('%j is said in percent, and in tokens', (context, percent, tokens) => {
  const { container } = render(<ContextUse context={context} />)
  expect(container.textContent).toBe(`${percent} of the context used`)
  expect(screen.getByTitle(tokens)).toBeTruthy()
})

test.each([[undefined], [null]])('%j is not shown', (context) => {
  const { container } = render(<ContextUse {...(context !== undefined && { context })} />)
  expect(container.innerHTML).toBe('')
})
