import { describe, expect, test } from 'vitest'
import { createWriting, withPieces } from './streamingText.ts'

const piece = (position: number, offset: number, text: string, messageId = 'm1') => ({
  taskId: 't',
  messageId,
  executionId: 'e',
  offset,
  text,
  position: String(position),
  version: position,
})
const words = (offset: number, text: string, messageId = 'm1') => ({
  taskId: 't',
  messageId,
  executionId: 'e',
  offset,
  text,
})
const texts = (...args: Parameters<typeof withPieces>) => withPieces(...args).map(({ text }) => text)

describe('a message that is being written', () => {
  test('grows by its pieces, in their order', () => {
    expect(texts([], [piece(2, 3, 'def'), piece(1, 0, 'abc')])).toEqual(['abcdef'])
    expect(texts(withPieces([], [piece(9, 0, 'abc')]), [piece(10, 3, 'def')])).toEqual(['abcdef'])
  })
  test('takes no piece twice', () => {
    const once = withPieces([], [piece(1, 0, 'abc'), piece(2, 3, 'def')])
    expect(texts(once, [piece(1, 0, 'abc')])).toEqual(['abcdef'])
    expect(texts(once, [piece(2, 3, 'def')])).toEqual(['abcdef'])
  })
  test('waits where a piece before is missing', () => {
    expect(texts(withPieces([], [piece(1, 0, 'abc')]), [piece(3, 6, 'ghi')])).toEqual(['abc'])
  })
  test('shows what is said before it is recorded, and what is recorded changes nothing of it', () => {
    const said = withPieces([], [words(0, 'abc'), words(0, 'abcdef')])
    expect(said.map(({ text }) => text)).toEqual(['abcdef'])
    const recorded = withPieces(said, [piece(4, 0, 'abcd')])
    expect(recorded).toMatchObject([{ text: 'abcdef', recorded: 4 }])
    expect(texts(recorded, [piece(5, 4, 'efg'), words(4, 'efgh')])).toEqual(['abcdefgh'])
  })
  test('waits for what is recorded where words were missed', () => {
    const joined = withPieces([], [words(5, 'fgh')])
    expect(joined).toEqual([])
    expect(texts(joined, [piece(1, 0, 'abcde'), words(5, 'fgh')])).toEqual(['abcdefgh'])
  })
  test('that only was said stands behind all others until it is recorded', () => {
    const said = withPieces([], [words(0, 'b', 'm2'), piece(5, 0, 'a')])
    expect(said.toSorted((a, b) => (a.order < b.order ? -1 : 1)).map(({ text }) => text)).toEqual(['a', 'b'])
    const order = withPieces(said, [piece(7, 0, 'b', 'm2')]).find(({ text }) => text === 'b')?.order
    expect(order).toBe(withPieces([], [piece(7, 0, 'b')])[0]?.order)
  })
  test('loses what was only said when its attempt is over', () => {
    const writing = createWriting()
    writing.append([piece(1, 0, 'kept')])
    writing.appendLive([words(0, 'kept and lost'), words(0, 'lost', 'm2')])
    writing.settle('another')
    expect(writing.read().map(({ text }) => text)).toEqual(['kept and lost', 'lost'])
    writing.settle('e')
    expect(writing.read().map(({ text }) => text)).toEqual(['kept'])
  })
  test('is not shown again by words or recorded text that come after the whole', () => {
    const writing = createWriting()
    writing.append([piece(1, 0, 'abc')])
    writing.drop(['m1'])
    writing.appendLive([words(0, 'abcd')])
    writing.append([piece(2, 0, 'abcd')])
    expect(writing.read()).toEqual([])
  })
  test('that is a thought is shown from where it was heard, and from its beginning when that is said again', () => {
    const thought = (offset: number, text: string) => ({ ...words(offset, text), isThought: true }) as const
    const shown = (...pieces: readonly ReturnType<typeof thought>[]) =>
      withPieces([], pieces).map(({ text, thought: { begins } = { begins: 0 } }) => [begins, text])
    expect(shown(thought(0, 'Let'), thought(0, 'Let me'), thought(4, 'me see'))).toEqual([[0, 'Let me see']])
    expect(shown(thought(50, 'me'), thought(50, 'me see'))).toEqual([[50, 'me see']])
    expect(shown(thought(0, 'Let'), thought(50, 'me'))).toEqual([[50, 'me']])
    expect(shown(thought(0, 'Perhaps'), thought(0, 'Su'))).toEqual([[0, 'Su']])
    expect(shown(thought(50, 'me'), thought(0, 'Su'))).toEqual([[0, 'Su']])
  })
  test('each message stands where it began', () => {
    const orders = withPieces([], [piece(5, 0, 'a'), piece(7, 0, 'b', 'm2'), piece(8, 1, 'c')]).map(
      ({ order }) => order,
    )
    expect(orders).toEqual(orders.toSorted())
  })
})
