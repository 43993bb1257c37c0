import { expect, test } from 'vitest'
import { namesLeftOut, secretsIn } from './keepSetup.ts'

test('the names that were left out are bounded, and all of them are counted', () => {
  const left = namesLeftOut()
  for (let n = 0; n < 1_000; n += 1) left.add(`file-${n}-${'x'.repeat(64 * 1024)}`)
  expect(left.first()).toHaveLength(20)
  expect(left.first().join('').length).toBeLessThanOrEqual(20 * 300)
  expect(left.count()).toBe(1_000)
  expect(secretsIn(left)).toMatch(/ and 995 more\.$/)
})
