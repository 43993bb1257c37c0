/** Equal values give the same text, whatever the order of their keys; different values give different texts. */
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from './canonicalJson.ts'

const json = fc.jsonValue({ maxDepth: 4 })

/** The same value with the keys of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

/** What JSON keeps of a value: minus zero becomes zero. */
const kept = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('canonical JSON', () => {
  test('does not depend on the order of keys', () =>
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      }),
    ))

  test('is JSON of the same value', () =>
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toStrictEqual(kept(value))
      }),
    ))

  test('of what it says is itself', () =>
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
      }),
    ))

  test('differs for values that differ', () =>
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(canonicalJson(a) === canonicalJson(b)).toBe(isDeepStrictEqual(kept(a), kept(b)))
      }),
    ))

  test('sorts keys by UTF-16 code units', () =>
    expect(canonicalJson({ '\u{1F600}': 1, '\uFB33': 2, b: 3, a: 4, 10: 5, 9: 6 })).toBe(
      '{"10":5,"9":6,"a":4,"b":3,"\u{1F600}":1,"\uFB33":2}',
    ))

  test('leaves out what is undefined, and keeps its place in a list', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
    expect(canonicalJson([undefined, 1])).toBe('[null,1]')
    expect(canonicalJson(Array.from({ length: 2 }))).toBe('[null,null]')
    // oxlint-disable-next-line no-sparse-arrays -- a hole is what is tested
    expect(canonicalJson([, 1])).toBe('[null,1]')
  })

  test('keeps a key that looks like the prototype', () =>
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}'))

  test.each([
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a big integer', 1n],
    ['a function', () => 1],
    ['a symbol', Symbol('a')],
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
    ['bytes', new Uint8Array(2)],
    ['an instance of a class', new URL('https://code.example')],
  ])('does not exist for %s', (_, value) => expect(() => canonicalJson({ value })).toThrow(TypeError))
})
