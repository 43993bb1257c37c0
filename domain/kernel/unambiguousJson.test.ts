import { expect, test } from 'vitest'
import { assert, json, property } from 'fast-check'
import { unambiguousJson } from './unambiguousJson.ts'

test('reads what JSON.parse reads', () => {
  assert(
    property(json(), (text) => {
      expect(unambiguousJson(text)).toEqual(JSON.parse(text))
    }),
  )
  for (const text of ['{', '', 'undefined', '{"a":1,}']) expect(unambiguousJson(text)).toBeUndefined()
})

test.each([
  '{"a":1,"a":1}',
  '{"a" : 1, "\\u0061"\n:2}',
  '[{"b":{"a":{},"c":[],"a":"\\":"}}]',
  '{"__proto__":1,"__proto__":2}',
])('refuses a name that an object has twice: %s', (text) => {
  expect(unambiguousJson(text)).toBeUndefined()
})

test('a colon in a string is no name, and neither are names in different objects the same', () => {
  expect(unambiguousJson('{"a":"\\"b\\":","c":{"a":[{"a":1},{"a":2}]}}')).toEqual({
    a: '"b":',
    c: { a: [{ a: 1 }, { a: 2 }] },
  })
})

test('takes megabytes of text, and a hundred thousand levels', () => {
  const long = JSON.stringify({ text: '"\\\n:'.repeat(2_000_000) })
  expect(unambiguousJson(long)).toBeDefined()
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  expect(unambiguousJson(deep)).toBeDefined()
})
