import { expect, test } from 'vitest'
import { closedBy } from './numbers.ts'

test.each([
  ['Closes #3', [3]],
  ['fixes: #3, resolved #12 and close #3', [3, 12]],
  ['Fixed #1\n\nCLOSES #2', [1, 2]],
  ['discloses #4, see #5, prefixes #6', []],
  ['closes 7', []],
])('%j closes %j', (text, numbers) => {
  expect(closedBy(text)).toEqual(numbers)
})
