/** Limits on the rate of requests, on connections from one network, and on the requests that begin in one turn of the event loop. */
import { expect, test, vi } from 'vitest'
import type { Context } from 'koa'
import { Fault } from '#domain/kernel/errors.ts'
import { limitAddresses, limitStrangers, rate, spreadBursts } from './limits.ts'

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

// Holds findings 1.108.
test('security M1: all addresses of one IPv6 network share the rate of an address', async () => {
  const limited = limitAddresses(rate(2))
  const ask = (ip: string) => limited({ ip } as Context, async () => undefined)
  for (const ip of ['2001:db8:1:2::1', '2001:db8:1:2:3::4']) expect(await refusal(ask(ip))).toBeUndefined()
  expect(await refusal(ask('2001:db8:1:2::5'))).toMatchObject({ code: 'rate_limited' })
  expect(await refusal(ask('2001:db8:1:3::1'))).toBeUndefined()
})

// Holds findings 1.109.
test('security L3: all addresses of one IPv6 network share the connections of an address', () => {
  const strangers = limitStrangers<object>({ ofAddress: 2, isProxied: false })
  const [one, other] = [{}, {}]
  strangers.came(one, '2001:db8:1:2::1')
  strangers.came(other, '2001:db8:1:2::2')
  expect(strangers.mayCome('2001:db8:1:2::3')).toBe(false)
  expect(strangers.mayCome('2001:db8:1:3::1')).toBe(true)
  strangers.gone(one)
  expect(strangers.mayCome('2001:db8:1:2::3')).toBe(true)
})

test('a burst begins a few in each turn of the event loop, all of it in order, and what comes between is answered before its end', async () => {
  const spread = spreadBursts(4)
  const begun: string[] = []
  const ask = (name: string) => {
    // The middleware under test does not read its context.
    const context = {} as Context
    return spread(context, async () => void begun.push(name))
  }
  const burst = Array.from({ length: 20 }, (_, index) => ask(`${index}`))
  setImmediate(() => begun.push('something else'))
  await Promise.all(burst)
  expect(begun.filter((name) => name !== 'something else')).toEqual(
    Array.from({ length: 20 }, (_, n) => `${n}`),
  )
  expect(begun.indexOf('something else')).toBeLessThanOrEqual(8)
  // A single request after the burst begins at once.
  await new Promise((resolve) => setTimeout(resolve, 5))
  const alone = ask('alone')
  expect(begun.at(-1)).toBe('alone')
  await alone
})
