import { expect, test } from 'vitest'
import { emailOf } from './emailAddress.ts'

test.each([
  ['an empty one is none', '', null],
  ['none is none', null, null],
  ['the stored one is taken as it is', 'ada@localhost', 'ada@localhost'],
  ['another one is taken when it is valid', 'ada@example.com', 'ada@example.com'],
])('of the addresses of a person, %s', (_, given, taken) => {
  expect(emailOf(given, 'ada@localhost')).toBe(taken)
})

test.each(['ada', 'ada@localhost', `${'x'.repeat(250)}@example.com`])(
  '%s is refused as another one',
  (given) => {
    expect(() => emailOf(given, 'ada@example.com')).toThrow(
      expect.objectContaining({ code: 'invalid_input', field: 'email' }),
    )
  },
)
