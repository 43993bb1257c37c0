/** Messages that agents are writing, for viewers that know only whole messages. */
import { expect, test } from 'vitest'
import { executionId, messageId } from '../../../tests/domain/ids.ts'
import { growingMessages } from './growingMessages.ts'

const piece = (offset: number, text: string, n = 1) => ({
  executionId: executionId(1),
  messageId: messageId(n),
  offset,
  text,
})

function scene() {
  let at = 1_000
  return { growing: growingMessages(() => at), pass: (ms: number) => (at += ms) }
}

test('a message grows by pieces that may overlap, come twice or come late', () => {
  const { growing, pass } = scene()
  const add = (offset: number, text: string) => {
    pass(15)
    return growing.add(piece(offset, text))?.text
  }
  expect(add(0, 'One ')).toBe('One ')
  expect(add(0, 'One two ')).toBe('One two ')
  expect(add(0, 'One ')).toBeUndefined()
  expect(add(8, 'three')).toBe('One two three')
  // What came before this piece was missed.
  expect(add(99, 'lost')).toBeUndefined()
  expect(add(4, 'two three four')).toBe('One two three four')
})

test('a long message is sent less often, and a very long one only when it is complete', () => {
  const { growing, pass } = scene()
  const text = 'x'.repeat(25_600)
  expect(growing.add(piece(0, text))).toBeDefined()
  pass(99)
  expect(growing.add(piece(0, `${text}y`))).toBeUndefined()
  pass(2)
  expect(growing.add(piece(0, `${text}y`))?.text).toBe(`${text}y`)
  pass(10_000)
  expect(growing.add(piece(0, 'x'.repeat(300_000)))).toBeUndefined()
})

test('a message goes on growing when the clock is set back', () => {
  const { growing, pass } = scene()
  growing.add(piece(0, 'One'))
  pass(-3_600_000)
  expect(growing.add(piece(3, ' two'))?.text).toBe('One two')
})

test('nothing is sent of a complete message, and of an execution that ended its incomplete messages are returned', () => {
  const { growing } = scene()
  growing.add(piece(0, 'One'))
  growing.add(piece(0, 'Two', 2))
  growing.complete(messageId(1))
  expect(growing.add(piece(0, 'One more'))).toBeUndefined()
  expect(growing.abandon(executionId(2))).toEqual([])
  expect(growing.abandon(executionId(1))).toMatchObject([{ messageId: messageId(2), text: 'Two' }])
  expect(growing.abandon(executionId(1))).toEqual([])
})
