import { expect, test } from 'vitest'
import { wordMarks } from './wordMarks.ts'

const marked = (line: string, counterpart: string) =>
  wordMarks(line, counterpart).map(({ from, to }) => line.slice(from, to))

test('marks the words that the other line has not', () => {
  expect(marked('post(endpoint.url, { timeout: 5_000 })', 'post(endpoint, { timeout: 10_000 })')).toEqual([
    '.url',
    '5_000',
  ])
  expect(marked('post(endpoint, { timeout: 10_000 })', 'post(endpoint.url, { timeout: 5_000 })')).toEqual([
    '10_000',
  ])
})
test('marks nothing where the lines have little in common', () => {
  expect(marked('completely different', 'x = 1')).toEqual([])
})
test('marks nothing in equal lines', () => {
  expect(marked('same', 'same')).toEqual([])
})
test('gives up on endless lines', () => {
  expect(wordMarks('a '.repeat(2_000), 'b '.repeat(2_000))).toEqual([])
})
