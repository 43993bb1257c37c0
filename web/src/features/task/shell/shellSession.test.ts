import { expect, test } from 'vitest'
import { waitingInput } from './shellSession.ts'

test('a paste is sent in pieces, in order, and one that is too much is refused as a whole', () => {
  const waiting = waitingInput()
  const pasted = '0123456789'.repeat(90_000)
  expect(waiting.add(pasted)).toBe(true)
  expect(waiting.add(pasted)).toBe(false)
  expect(waiting.add('exit\n')).toBe(true)
  let sent = ''
  while (!waiting.isEmpty()) sent += waiting.take()
  expect(sent === `${pasted}exit\n`).toBe(true)
  expect(waiting.add(pasted)).toBe(true)
  waiting.clear()
  expect(waiting.isEmpty()).toBe(true)
})

test('a character is not sent in halves', () => {
  const waiting = waitingInput()
  waiting.add(`a${'😀'.repeat(5_000)}`)
  expect(waiting.take()).toMatch(/^a(😀)+$/u)
  expect(waiting.take()).toMatch(/^(😀)+$/u)
})
