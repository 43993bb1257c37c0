import { describe, expect, test } from 'vitest'
import { written } from './writing.ts'

const piece = (position: number, offset: number, text: string, messageId = 'm1') => ({
  taskId: 't',
  messageId,
  executionId: 'e',
  offset,
  text,
  position: String(position),
  version: position,
})
const texts = (...args: Parameters<typeof written>) => written(...args).map(({ text }) => text)

describe('a message that is being written', () => {
  test('grows by its pieces, in their order', () => {
    expect(texts([], [piece(2, 3, 'def'), piece(1, 0, 'abc')])).toEqual(['abcdef'])
    expect(texts(written([], [piece(9, 0, 'abc')]), [piece(10, 3, 'def')])).toEqual(['abcdef'])
  })
  test('takes no piece twice', () => {
    const once = written([], [piece(1, 0, 'abc'), piece(2, 3, 'def')])
    expect(texts(once, [piece(1, 0, 'abc')])).toEqual(['abcdef'])
    expect(texts(once, [piece(2, 3, 'def')])).toEqual(['abcdef'])
  })
  test('waits where a piece before is missing', () => {
    expect(texts(written([], [piece(1, 0, 'abc')]), [piece(3, 6, 'ghi')])).toEqual(['abc'])
  })
  test('each message stands where it began', () => {
    const orders = written([], [piece(5, 0, 'a'), piece(7, 0, 'b', 'm2'), piece(8, 1, 'c')]).map(
      ({ order }) => order,
    )
    expect(orders).toEqual(orders.toSorted())
  })
})
