import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFinder, maxMatches } from './findInLines.ts'
import type { TerminalLine } from './terminalWriter.ts'

const lineOf = (id: number, text: string): TerminalLine => ({
  id,
  text,
  start: '',
  at: '2026-11-21T10:00:00.000Z',
  channel: 'stdout',
  executionId: 'e1',
  position: '1',
})
const linesFrom = (id: number, texts: readonly string[]) =>
  texts.map((text, index) => lineOf(id + index, text))

test('words are found wherever they stand, whatever their capitals, and not in codes', () => {
  const found = createFinder().find(
    linesFrom(0, ['Error', '\u001B[31merror\u001B[0m, error', '\u001B[31m31m']),
    'error',
  )
  expect(found).toEqual([
    { id: 0, nth: 0 },
    { id: 1, nth: 0 },
    { id: 1, nth: 1 },
  ])
})

test('letters that change their length are found as they are', () => {
  expect(createFinder().find(linesFrom(0, ['İstanbul x']), 'x')).toHaveLength(1)
})

test('so many places are enough', () => {
  expect(
    createFinder().find(
      linesFrom(
        0,
        Array.from({ length: 30 }, () => 'a'.repeat(500)),
      ),
      'a',
    ),
  ).toHaveLength(maxMatches)
})

test('whatever comes, goes and is written on, it finds what it would find anew', () => {
  const change = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), text: fc.constantFrom('a', 'ab', 'b', 'aa') }),
    fc.record({ kind: fc.constant('write' as const), text: fc.constantFrom('a', 'b', '') }),
    fc.record({ kind: fc.constantFrom('drop' as const, 'before' as const), text: fc.constantFrom('a', 'b') }),
  )
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.constantFrom('a', 'ab'), (changes, words) => {
      const finder = createFinder()
      const lines = linesFrom(0, ['ab'])
      for (const { kind, text } of changes) {
        const first = lines[0]?.id ?? 0
        const last = lines.at(-1)?.id ?? first - 1
        if (kind === 'add') lines.push(lineOf(last + 1, text))
        if (kind === 'before') lines.unshift(lineOf(first - 1, text))
        if (kind === 'drop' && lines.length > 1) lines.shift()
        if (kind === 'write') lines[lines.length - 1] = lineOf(last, text)
        expect(finder.find(lines, words)).toEqual(createFinder().find(lines, words))
      }
    }),
    { numRuns: 200 },
  )
})
