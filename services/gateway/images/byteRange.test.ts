/** Requests for a part of a file, as players of videos make them. */
import { expect, test } from 'vitest'
import { requestedRange } from './byteRange.ts'

test.each([
  ['', 'whole'],
  ['bytes=0-', { first: 0, last: 9 }],
  ['bytes=3-5', { first: 3, last: 5 }],
  ['bytes=3-500', { first: 3, last: 9 }],
  ['bytes=-4', { first: 6, last: 9 }],
  ['bytes=-400', { first: 0, last: 9 }],
  ['bytes=10-', 'none'],
  ['bytes=-0', 'none'],
  ['bytes=5-3', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=0-1,4-5', 'whole'],
  ['lines=0-1', 'whole'],
  ['bytes=1e3-', 'whole'],
])('of 10 bytes, %j means %j', (header, range) => expect(requestedRange(header, 10)).toEqual(range))

test('an empty file has no range', () => expect(requestedRange('bytes=0-', 0)).toBe('none'))
