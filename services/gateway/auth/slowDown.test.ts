/** Who may try again, and when: by account and by the client's address. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { slowDown } from './slowDown.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000)

/** How long one has to wait, in seconds; 0 when the try was taken. */
async function waitOf(trying: Promise<unknown>): Promise<number> {
  try {
    await trying
    return 0
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.code !== 'rate_limited') throw fault
    return fault.details.retryAfterSeconds ?? Number.NaN
  }
}

/** Tries one after the other, which all fail; gives what each has to wait. */
async function failures(count: number, attempt: (n: number) => Promise<unknown>): Promise<readonly number[]> {
  const waits: number[] = []
  for (let n = 0; n < count; n += 1) waits.push(await waitOf(attempt(n)))
  return waits
}

/** Each from an address of its own. */
const guessing = () => {
  const slow = slowDown()
  let addresses = 0
  return (account: string) => slow.begin({ account, address: `10.0.0.${(addresses += 1)}` })
}

describe('an account', () => {
  test('may fail five times; then each failure makes the wait twice as long, up to a quarter of an hour', async () => {
    const guess = guessing()
    expect(await failures(6, () => guess('ada'))).toEqual([0, 0, 0, 0, 0, 60])
    pass(59)
    expect(await waitOf(guess('ada'))).toBe(1)
    for (const [waited, next] of [
      [1, 120],
      [120, 240],
      [240, 480],
      [480, 900],
      [900, 900],
    ] as const) {
      pass(waited)
      expect(await failures(2, () => guess('ada'))).toEqual([0, next])
    }
  })

  test('that has failed too often is told so in a sentence, with the time to wait', async () => {
    const guess = guessing()
    await failures(6, () => guess('ada'))
    await expect(guess('ada')).rejects.toThrow('Too many attempts failed. Try again in a minute.')
    pass(60)
    await failures(1, () => guess('ada'))
    await expect(guess('ada')).rejects.toThrow('Too many attempts failed. Try again in 2 minutes.')
  })

  test('is another one’s own: the others go on', async () => {
    const guess = guessing()
    await failures(6, () => guess('ada'))
    expect(await waitOf(guess('grace'))).toBe(0)
  })

  test('begins anew when one was right', async () => {
    const guess = guessing()
    await failures(4, () => guess('ada'))
    await (await guess('ada')).succeeded()
    expect(await failures(6, () => guess('ada'))).toEqual([0, 0, 0, 0, 0, 60])
  })

  test('begins anew when its failures are long ago', async () => {
    const guess = guessing()
    await failures(4, () => guess('ada'))
    pass(901)
    expect(await failures(6, () => guess('ada'))).toEqual([0, 0, 0, 0, 0, 60])
  })

  test('is not charged for a try that came to nothing', async () => {
    const guess = guessing()
    for (let n = 0; n < 10; n += 1) await (await guess('ada')).voided()
    await failures(4, () => guess('ada'))
    await (await guess('ada')).voided()
    expect(await failures(2, () => guess('ada'))).toEqual([0, 60])
  })

  test('is guessed at no more often by many who come at once', async () => {
    const guess = guessing()
    const waits = await Promise.all(Array.from({ length: 50 }, () => waitOf(guess('ada'))))
    expect(waits.filter((wait) => wait === 0)).toHaveLength(5)
    expect(Math.max(...waits)).toBe(60)
    pass(60)
    const again = await Promise.all(Array.from({ length: 50 }, () => waitOf(guess('ada'))))
    expect(again.filter((wait) => wait === 0)).toHaveLength(1)
  })
})

describe('a client’s address', () => {
  const from = (addresses: (n: number) => string) => {
    const slow = slowDown()
    return (n: number) => slow.begin({ account: `account ${n}`, address: addresses(n) })
  }

  test('may fail twenty times, whichever the accounts', async () => {
    const waits = await failures(
      21,
      from(() => '192.0.2.1'),
    )
    expect(waits).toEqual([...Array.from({ length: 20 }, () => 0), 60])
  })

  test('is not charged for what was right', async () => {
    const slow = slowDown()
    const ask = () => slow.begin({ account: 'ada', address: '192.0.2.1' })
    for (let n = 0; n < 50; n += 1) await (await ask()).succeeded()
    expect(await waitOf(ask())).toBe(0)
  })

  test('that has failed too often is let in again by nobody else being right', async () => {
    const slow = slowDown()
    const own = await slow.begin({ account: 'own', address: '192.0.2.1' })
    await failures(19, (n) => slow.begin({ account: `account ${n}`, address: '192.0.2.1' }))
    await own.succeeded()
    expect(await waitOf(slow.begin({ address: '192.0.2.1' }))).toBe(60)
  })

  test('is charged without an account as well, and not for an account that must wait', async () => {
    const slow = slowDown()
    const registering = () => slow.begin({ address: '192.0.2.1' })
    const guess = () => slow.begin({ account: 'ada', address: '192.0.2.1' })
    await failures(5, guess)
    expect(await failures(30, guess)).toEqual(Array.from({ length: 30 }, () => 60))
    expect(await failures(16, registering)).toEqual([...Array.from({ length: 15 }, () => 0), 60])
  })

  test.each([
    ['IPv6: one of the many of a network', (n: number) => `2001:db8:1:2::${n.toString(16)}`],
    ['IPv6 in full', (n: number) => `2001:db8:1:2:${n}:0:0:1`],
    ['IPv4 in the clothes of IPv6', (n: number) => (n % 2 === 0 ? '::ffff:192.0.2.1' : '192.0.2.1')],
  ])('is one client’s whatever its form: %s', async (_, address) => {
    expect((await failures(21, from(address))).at(-1)).toBe(60)
  })

  test('of another network is another client’s', async () => {
    expect(
      await failures(
        40,
        from((n) => `2001:db8:1:${n}::1`),
      ),
    ).toEqual(Array.from({ length: 40 }, () => 0))
  })
})
