import { expect, test } from 'vitest'
import { traceOf } from './faultTrace.ts'

const words = 'the quick brown secret'

// Holds findings 1.33.
test.each<[string, () => unknown]>([
  ['an error', () => new TypeError(words)],
  [
    'an error of several lines, one of which looks like a frame',
    () => new Error(`${words}\n    at ${words}`),
  ],
  ['an error with a code', () => Object.assign(new Error(words), { code: 'ENOENT' })],
  ['an error whose code is words', () => Object.assign(new Error(words), { code: words })],
  ['an error with a cause', () => new Error('outer', { cause: new Error(words) })],
  ['an error with a name of its own', () => Object.assign(new Error(words), { name: words })],
  ['an error that repeats itself', () => new Error(`${words}\n${words}`)],
  ['a text', () => words],
  ['nothing', () => undefined],
])('what is kept of %s has none of its words', (_, make) => {
  expect(traceOf(make())).not.toContain('quick')
})

test('says of what kind a fault is and where it arose', () => {
  const fault = Object.assign(new RangeError(words), { code: 'E_TOO_MUCH' })
  expect(traceOf(fault)).toMatch(/^RangeError \(E_TOO_MUCH\) at .*faultTrace\.test\.ts/)
})

test('an error without a message has its frames', () => {
  expect(traceOf(new Error(''))).toMatch(/^Error at .*\n\s+at /)
})
