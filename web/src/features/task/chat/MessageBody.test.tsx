// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { MessageBody } from './MessageBody.tsx'

afterEach(cleanup)

test('a message of 300 characters is shown whole', () => {
  const text = 'x'.repeat(300)
  const { container } = render(<MessageBody text={text} markdown={false} />)
  expect(container.textContent).toBe(text)
})

test('a message of more than 300 characters is cut there, until more is asked for', () => {
  const text = 'x'.repeat(301)
  const { container } = render(<MessageBody text={text} markdown={false} />)
  expect(container.textContent).toBe(`${'x'.repeat(300)}…Show more`)
  fireEvent.click(screen.getByRole('button', { name: 'Show more' }))
  expect(container.textContent).toBe(`${text}Show less`)
  fireEvent.click(screen.getByRole('button', { name: 'Show less' }))
  expect(container.textContent).toBe(`${'x'.repeat(300)}…Show more`)
})
