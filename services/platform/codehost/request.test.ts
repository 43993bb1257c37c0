/** How long the code host asks us to wait, in its own format and as a sentence for people. */
import { expect, test } from 'vitest'
import { faultOf, limited, retryAfterMs } from './request.ts'

const now = Date.parse('2026-02-01T10:00:40Z')
const day = 86_400_000
const inTwoMinutes = `${Math.floor(now / 1_000) + 120}`

test.each([
  [{ 'retry-after': '90' }, 90_000],
  [{ 'retry-after': 90 }, 90_000],
  [{ 'retry-after': 'Sun, 01 Feb 2026 10:02:40 GMT' }, 120_000],
  [{ 'retry-after': 'Sun, 01 Feb 2026 09:00:00 GMT' }, 0],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inTwoMinutes }, 120_000],
  [{ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': inTwoMinutes }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{ 'retry-after': '' }, undefined],
  [{ 'retry-after': 'soon', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inTwoMinutes }, 120_000],
  [{}, undefined],
  // No limit of GitHub lasts longer than a day.
  [{ 'retry-after': '100000000000000' }, day],
  [{ 'retry-after': '9'.repeat(20) }, day],
  [{ 'retry-after': 'Mon, 01 Feb 2027 10:00:00 GMT' }, day],
  [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '4000000000' }, day],
])('the wait that %j asks for is %s ms', (headers, ms) => {
  expect(retryAfterMs(headers, now)).toBe(ms)
})

test.each([
  [0, 'until 10:01 UTC'],
  [90_000, 'until 10:03 UTC'],
  [15 * 3_600_000, 'until 01:01 UTC'],
  [day - 60_000, 'until 10:00 UTC'],
  // Rounded up, the time would be 10:01, which people would take for 10:01 today and not tomorrow.
  [day - 10_000, 'for about a day or longer'],
  [day, 'for about a day or longer'],
])('a wait of %i ms is said so that it is true: %s', (ms, words) => {
  expect(limited(ms, undefined, now)).toMatchObject({
    kind: 'rate_limited',
    message: `GitHub asks us to wait ${words}.`,
    retryAfterMs: ms,
  })
})

test('a wait without an end is a limit of the host all the same, and no defect of ours', () => {
  const error = { status: 429, response: { headers: { 'retry-after': '100000000000000' }, data: {} } }
  expect(faultOf(error)).toMatchObject({ kind: 'rate_limited', isPassing: true, retryAfterMs: day })
})
