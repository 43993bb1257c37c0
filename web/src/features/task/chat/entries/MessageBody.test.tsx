// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen, waitFor } from '@testing-library/react'
import { Provider } from 'react-redux'
import { afterEach, expect, test } from 'vitest'
import { clientStore } from '../../../../../../tests/client/page.tsx'
import { CommandBody, MessageBody } from './MessageBody.tsx'

afterEach(cleanup)

test.each(['x', '😀'])('a message of 300 characters is shown whole: %s', (character) => {
  const text = character.repeat(300)
  const { container } = render(<MessageBody text={text} markdown={false} />)
  expect(container.textContent).toBe(text)
})

// Holds contract 9.13; screens 2.49a.
test.each(['x', '😀'])(
  'a message of more than 300 characters is cut there, until more is asked for: %s',
  (character) => {
    const text = character.repeat(301)
    const { container } = render(<MessageBody text={text} markdown={false} />)
    expect(container.textContent).toBe(`${character.repeat(300)}…Show more`)
    fireEvent.click(screen.getByRole('button', { name: 'Show more' }))
    expect(container.textContent).toBe(`${text}Show less`)
    fireEvent.click(screen.getByRole('button', { name: 'Show less' }))
    expect(container.textContent).toBe(`${character.repeat(300)}…Show more`)
  },
)

test('a command is cut there too, as it is written', () => {
  const text = `cat <<'EOF'\n\`\`\`\n${'x'.repeat(300)}\nEOF`
  const { container } = render(<CommandBody text={text} />)
  expect(container.querySelector('code')?.textContent).toBe(`$ ${text.slice(0, 300)}…`)
  fireEvent.click(screen.getByRole('button', { name: 'Show more' }))
  expect(container.querySelector('code')?.textContent).toBe(`$ ${text}`)
})

test('what was open because it was read while it was written is cut later, unless somebody opened or closed it', () => {
  const text = 'x'.repeat(301)
  const { container, rerender } = render(<MessageBody text={text} markdown={false} expanded />)
  expect(container.textContent).toBe(`${text}Show less`)
  rerender(<MessageBody text={text} markdown={false} />)
  expect(container.textContent).toBe(`${'x'.repeat(300)}…Show more`)
  fireEvent.click(screen.getByRole('button', { name: 'Show more' }))
  rerender(<MessageBody text={text} markdown={false} expanded />)
  rerender(<MessageBody text={text} markdown={false} />)
  expect(container.textContent).toBe(`${text}Show less`)
})

const shownOf = (text: string) =>
  render(
    <Provider store={clientStore()}>
      <MessageBody text={text} markdown={false} />
    </Provider>,
  ).container

test.each([
  '```\nlet answer = 42\n```',
  '> `src/a.ts:4`\n>\n> ```diff\n> +let answer = 42\n> ```\n\nWhy 42?',
  'Why 42?\n  7→let answer = 42\n  8→print(answer)',
  '     1\tlet answer = 42\n     2\tprint(answer)',
])("a person's block of code, or listing, is shown as code: %j", async (text) => {
  const shown = shownOf(text)
  await waitFor(() => expect(shown.querySelectorAll('pre')).toHaveLength(1))
})

test('what a person writes without one is shown as it is written', () => {
  const text = 'a *star* and a `tick`'
  expect(shownOf(text).textContent).toBe(text)
})
