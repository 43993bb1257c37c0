import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addOutput, maxLineLength, outputBegun, withoutColours, type OutputLine } from './outputLines.ts'

/** All lines of output that arrives in these pieces; the last line may be incomplete. */
function lines(...pieces: string[]): OutputLine[] {
  let state = outputBegun
  const all: OutputLine[] = []
  for (const piece of pieces) {
    const next = addOutput(state, piece)
    all.push(...next.finished.filter((item) => 'text' in item))
    state = next.state
  }
  return [...all, { text: state.line, start: state.start }]
}
const texts = (...pieces: string[]) => lines(...pieces).map(({ text }) => withoutColours(text))

describe('the lines of output', () => {
  test('end at line feeds, and may come in pieces', () => {
    expect(texts('one\ntw', 'o\n', 'three')).toEqual(['one', 'two', 'three'])
    expect(texts('one\r', '\ntwo\r\n')).toEqual(['one', 'two', ''])
  })
  test('a carriage return begins the line anew', () => {
    expect(texts('10%\r50%\r100%\ndone')).toEqual(['100%', 'done'])
    expect(texts('10%\r', '50%\r', '100%')).toEqual(['100%'])
  })
  test('what nothing was written over stays', () => {
    expect(texts('100%\r\r\n')).toEqual(['100%', ''])
    expect(texts('100%\r')).toEqual(['100%'])
    expect(texts('100%\r', '\nnext')).toEqual(['100%', 'next'])
  })
  test('an erased line begins anew', () => {
    expect(texts('working\u001B[2K\rdone\n')).toEqual(['done', ''])
    expect(texts('working\u001B[1Gdone\u001B[K\n')).toEqual(['done', ''])
  })
  test('a backspace takes back a character', () => {
    expect(texts('abc\b\bd')).toEqual(['ad'])
    expect(texts('\b\bx')).toEqual(['x'])
    expect(lines('\u001B[31m\bx')[0]?.text).toBe('\u001B[31mx')
    expect(lines('ab\u001B[31m\bx')[0]?.text).toBe('a\u001B[31mx')
  })
  test('colours stay in the line and go on in the next', () => {
    const [first, second, third] = lines('\u001B[31mred\nstill\u001B[0m\nplain')
    expect(first).toEqual({ text: '\u001B[31mred', start: '' })
    expect(second).toEqual({ text: 'still\u001B[0m', start: '\u001B[31m' })
    expect(third).toEqual({ text: 'plain', start: '' })
  })
  test('moving, titles and other sequences leave nothing behind', () => {
    expect(texts('\u001B[?25l\u001B]0;title\u0007a\u001B[3Ab\u001B(Bc\u0000')).toEqual(['abc'])
  })
  test('a sequence that is cut in two is one', () => {
    expect(texts('a\u001B', '[31mb\u001B[', '0', 'mc')).toEqual(['abc'])
    expect(lines('a\u001B', '[31mb')[0]?.text).toBe('a\u001B[31mb')
  })
  test('a progress line keeps no colours but those that are on', () => {
    const bar = Array.from({ length: 2_000 }, (_, n) => `\r\u001B[32m${n}\u001B[0m`).join('')
    expect(lines(bar)).toEqual([{ text: '1999\u001B[0m', start: '\u001B[32m' }])
  })
  test('nothing turns the direction of what is read', () => {
    expect(texts('a\u202Ecod.exe\u2066')).toEqual(['a\uFFFDcod.exe\uFFFD'])
  })
  test('control sequences of one character leave nothing behind', () => {
    expect(texts('a\u009B31mb\u0085c')).toEqual(['a31mbc'])
  })
  test('neither a code nor a character is cut in two', () => {
    const cut = lines(`${'x'.repeat(maxLineLength - 2)}\u001B[31mred`)
    expect(cut.map(({ text }) => text)).toEqual(['x'.repeat(maxLineLength - 2), '\u001B[31mred'])
    expect(texts(`${'x'.repeat(maxLineLength - 1)}😀`)[1]).toBe('😀')
  })
  test('a long line without an end, of whatever, is lines of bounded length', () => {
    for (const bit of [
      'x',
      '\b',
      'x\b',
      '\r',
      '\u001B',
      '\u001B]',
      '\u001B[31m',
      '\u001B]8;;https://a.b/\u0007',
      '\u202E',
      'é😀',
    ]) {
      const all = lines(...Array.from({ length: 16 }, () => bit.repeat(Math.ceil(16_000 / bit.length))))
      expect(Math.max(...all.map(({ text }) => text.length))).toBeLessThanOrEqual(maxLineLength)
    }
  })
  test('an endless line is cut', () => {
    expect(texts('x'.repeat(maxLineLength * 2 + 5)).map(({ length }) => length)).toEqual([
      maxLineLength,
      maxLineLength,
      5,
    ])
  })
  test('however it is cut into pieces, the lines are the same', () => {
    const bit = fc.constantFrom(
      'a',
      'bc',
      '\n',
      '\r',
      '\r\n',
      '\b',
      '\u001B[31m',
      '\u001B[0m',
      '\u001B[2K',
      '\u001B[5A',
      '\t',
      '✓',
      '\u001B]8;;https://example.com/\u0007',
      '\u001B]133;D;1\u0007',
    )
    fc.assert(
      fc.property(
        fc.array(bit, { maxLength: 30 }),
        fc.array(fc.nat({ max: 60 }), { maxLength: 8 }),
        (bits, cuts) => {
          const whole = bits.join('')
          const edges = [
            0,
            ...cuts.filter((cut) => cut < whole.length).toSorted((a, b) => a - b),
            whole.length,
          ]
          const pieces = edges.slice(1).map((edge, index) => whole.slice(edges[index], edge))
          expect(texts(...pieces)).toEqual(texts(whole))
        },
      ),
      { numRuns: 500 },
    )
  })
})
