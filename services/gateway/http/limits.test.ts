/** What is asked for too often is refused with the time to wait, and each name is counted by itself. */
import { expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { rate } from './limits.ts'

const refusal = async (asking: Promise<void>): Promise<Fault | undefined> =>
  asking.then(
    () => undefined,
    (thrown: unknown) => {
      if (thrown instanceof Fault) return thrown
      throw thrown
    },
  )

test('more than so many a minute are refused until the minute is over', async () => {
  vi.useFakeTimers()
  try {
    const allowed = rate(3)
    for (const _ of [1, 2, 3]) expect(await refusal(allowed('ada'))).toBeUndefined()
    const refused = await refusal(allowed('ada'))
    expect(refused).toMatchObject({ code: 'rate_limited' })
    expect(refused?.details.retryAfterSeconds).toBe(60)
    expect(await refusal(allowed('grace'))).toBeUndefined()
    vi.advanceTimersByTime(45_000)
    expect((await refusal(allowed('ada')))?.details.retryAfterSeconds).toBe(15)
    vi.advanceTimersByTime(15_001)
    expect(await refusal(allowed('ada'))).toBeUndefined()
  } finally {
    vi.useRealTimers()
  }
})

test('without a limit nothing is refused', async () => {
  const allowed = rate(null)
  for (let asked = 0; asked < 100; asked += 1) expect(await refusal(allowed('ada'))).toBeUndefined()
})
