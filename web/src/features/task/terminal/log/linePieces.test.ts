import { describe, expect, test } from 'vitest'
import { addOutput, outputBegun } from './outputLines.ts'
import { maxPieces, piecesOf } from './linePieces.ts'

const escape = '\u001B'
/** The pieces of printed output, as the terminal shows its one line. */
const printed = (output: string, words = '') => {
  const { state } = addOutput(outputBegun, output)
  return piecesOf(state.start, state.line, words)
}
const links = (output: string) =>
  printed(output).flatMap(({ text, href }) => (href === null ? [] : [[text, href]]))
const link = (address: string, text: string) => `${escape}]8;;${address}\u0007${text}${escape}]8;;\u0007`

describe('a link in output', () => {
  test('leads to a web page, with the colours it has', () => {
    expect(printed(`a ${link('https://example.com/x', `${escape}[31mred`)} b`)).toEqual([
      { text: 'a ', className: '', href: null, match: null },
      { text: 'red', className: 'text-bad', href: 'https://example.com/x', match: null },
      { text: ' b', className: 'text-bad', href: null, match: null },
    ])
  })

  test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/settings', ''])(
    'to %s is text',
    (address) => {
      expect(links(link(address, 'here'))).toEqual([])
      expect(printed(link(address, 'here'))).toHaveLength(1)
    },
  )

  test('ends with its line', () => {
    const { state } = addOutput(outputBegun, `${escape}]8;;https://example.com/${escape}\\one\ntwo`)
    expect(piecesOf(state.start, state.line, '').map(({ href }) => href)).toEqual([null])
  })

  test('may be an address as it stands, without what ends the sentence', () => {
    expect(links('See https://example.com/a?b=c#d, or (http://example.org/).')).toEqual([
      ['https://example.com/a?b=c#d', 'https://example.com/a?b=c#d'],
      ['http://example.org/', 'http://example.org/'],
    ])
  })
})

describe('what is searched for', () => {
  const marks = (output: string, words: string) =>
    printed(output, words).flatMap(({ text, match }) => (match === null ? [] : [[text, match]]))

  test('is marked wherever it stands, across colours', () => {
    expect(marks(`one ${escape}[31mO${escape}[32mNE`, 'one')).toEqual([
      ['one', 0],
      ['O', 1],
      ['NE', 1],
    ])
  })

  test('is no pattern', () => {
    expect(marks('a.c abc', 'a.c')).toEqual([['a.c', 0]])
    expect(marks('a line', '')).toEqual([])
  })
})

test('a line that changes its colour at each letter has few pieces, and all of its text', () => {
  const output = Array.from({ length: 500 }, (_, index) => `${escape}[3${index % 8}m${index % 10}`).join('')
  const pieces = printed(output)
  expect(pieces.length).toBeLessThanOrEqual(maxPieces + 1)
  expect(pieces.map(({ text }) => text).join('')).toHaveLength(500)
})
