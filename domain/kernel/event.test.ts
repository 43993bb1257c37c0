/** Positions are ordered as numbers, also when compared as text; a kind makes events of its own type. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { comparePositions, sortKey } from './event.ts'
import { event, lifted, none, Position, upcast } from './event.schema.ts'

const largest = 2n ** 64n - 1n
const position = fc.oneof(fc.bigInt(0n, largest), fc.bigInt(0n, 1_000n)).map(String)

describe('positions', () => {
  test('compare as the numbers they are', () =>
    fc.assert(
      fc.property(position, position, (a, b) => {
        const expected = BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
        expect(Math.sign(comparePositions(a, b))).toBe(expected)
        expect(sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0).toBe(expected)
      }),
    ))

  test('are decimal numbers of at most 20 digits', () =>
    fc.assert(
      fc.property(position, (text) => {
        expect(Position.parse(text)).toBe(text)
      }),
    ))

  test.each(['', '-1', '1.0', '1e3', ' 1', '1\n', '0x1', '٣', '1'.repeat(21), 1, null])(
    'are not %j',
    (input) => expect(Position.safeParse(input).success).toBe(false),
  )

  test.each(['00', '007'])('have one form each: not %j', (input) =>
    expect(Position.safeParse(input).success).toBe(false),
  )
})

describe('a kind of event', () => {
  const Renamed = event('Renamed', 1, {
    data: z.object({ id: z.string() }),
    content: z.object({ name: z.string() }),
  })
  const Removed = event('Removed', 1, { data: z.object({ id: z.string() }), content: none })

  test('makes events with facts and words apart', () =>
    expect(Renamed.of({ id: 'a' }, { name: 'Ada' })).toStrictEqual({
      type: 'Renamed',
      data: { id: 'a' },
      content: { name: 'Ada' },
    }))

  test('without words has no content', () =>
    expect(Removed.of({ id: 'a' })).toStrictEqual({ type: 'Removed', data: { id: 'a' }, content: null }))
})

describe('what an older version recorded', () => {
  const first = { data: z.object({ id: z.string() }), content: z.object({ name: z.string() }) }
  const second = { data: z.object({ id: z.string(), at: z.number() }), content: first.content }
  const third = { data: second.data, content: z.object({ name: z.string(), nick: z.string() }) }
  const Renamed = event('Renamed', 3, {
    ...third,
    upcasts: [
      upcast(first, ({ data, content }) => ({ data: { ...data, at: 0 }, content })),
      upcast(second, ({ data, content }) => ({ data, content: content && { ...content, nick: '' } })),
    ],
  })
  const words = { name: 'Ada' }

  test('is lifted version by version, from the one it is of', () => {
    const today = { data: { id: 'a', at: 0 }, content: { name: 'Ada', nick: '' } }
    expect(lifted(Renamed, 1, { data: { id: 'a' }, content: words })).toStrictEqual(today)
    expect(lifted(Renamed, 2, { data: { id: 'a', at: 7 }, content: words })).toStrictEqual({
      ...today,
      data: { id: 'a', at: 7 },
    })
    expect(lifted(Renamed, 3, today)).toBe(today)
  })

  test('stays erased', () =>
    expect(lifted(Renamed, 1, { data: { id: 'a' }, content: null })).toStrictEqual({
      data: { id: 'a', at: 0 },
      content: null,
    }))

  test('is refused when that version could not have recorded it', () =>
    expect(() => lifted(Renamed, 1, { data: {}, content: words })).toThrow(z.ZodError))

  test('can be lifted from every version there was, or the kind is none', () =>
    expect(() => event('Renamed', 3, { ...third, upcasts: [] })).toThrow('needs 2 upcasts'))
})
