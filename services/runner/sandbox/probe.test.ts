import { describe, expect, test } from 'vitest'
import { allowedShortcomings } from '#platform/config/values.ts'
import { notAllowed, type Shortcoming } from './probe.ts'

describe('finding low: a sandbox that lacks something', () => {
  const [one, two] = allowedShortcomings
  const lacks = (name: Shortcoming['name']): Shortcoming => ({ name, says: 'It lacks something.' })

  test('is for no real model unless exactly that is allowed', () => {
    const shortcomings = [lacks(one), lacks(two)]
    expect(notAllowed(shortcomings, [])).toEqual([one, two])
    expect(notAllowed(shortcomings, [two])).toEqual([one])
    expect(notAllowed(shortcomings, [one, two])).toEqual([])
  })

  test('stops nothing where it has no name, and what is allowed and not lacking is no matter', () => {
    expect(notAllowed([lacks(null)], [])).toEqual([])
    expect(notAllowed([], [one])).toEqual([])
  })
})
