/** Who may try to sign in again, and when: by account and by the client's address. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Fault } from '#domain/kernel/errors.ts'
import { loginThrottle, type LoginThrottle, type Trying } from './loginThrottle.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1_000)

/** The time to wait in seconds; 0 when the attempt was accepted. */
async function waitOf(trying: Promise<unknown>): Promise<number> {
  try {
    await trying
    return 0
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.code !== 'rate_limited') throw fault
    return fault.details.retryAfterSeconds ?? Number.NaN
  }
}

const guess = async (slow: LoginThrottle, trying: Trying) => {
  await slow.check(trying)
  await slow.failed(trying)
}

/** Makes `count` wrong guesses, one after the other. Returns the seconds that each had to wait. */
async function guesses(
  count: number,
  slow: LoginThrottle,
  trying: (n: number) => Trying,
): Promise<readonly number[]> {
  const waits: number[] = []
  for (let n = 0; n < count; n += 1) waits.push(await waitOf(guess(slow, trying(n))))
  return waits
}

const zeros = (count: number) => Array.from({ length: count }, () => 0)

describe('an account', () => {
  let addresses = 0
  /** Returns attempts on the account, each from another address. */
  const at = (account: string) => () => ({ account, address: `10.0.0.${(addresses += 1)}` })
  const ada = at('ada')

  test('may fail five times; then each failure makes the wait twice as long, up to a quarter of an hour', async () => {
    const slow = loginThrottle()
    expect(await guesses(7, slow, ada)).toEqual([...zeros(5), 60, 60])
    pass(59)
    expect(await waitOf(slow.check(ada()))).toBe(1)
    for (const [waited, next] of [
      [1, 120],
      [120, 240],
      [240, 480],
      [480, 900],
      [900, 900],
    ] as const) {
      pass(waited)
      expect(await guesses(2, slow, ada)).toEqual([0, next])
    }
  })

  test('that has failed too often is told so in a sentence, with the time to wait', async () => {
    const slow = loginThrottle()
    await guesses(5, slow, ada)
    await expect(slow.check(ada())).rejects.toThrow('Too many attempts failed. Try again in a minute.')
    pass(60)
    await guesses(1, slow, ada)
    await expect(slow.check(ada())).rejects.toThrow('Too many attempts failed. Try again in 2 minutes.')
  })

  test('is another one’s own: the others go on', async () => {
    const slow = loginThrottle()
    await guesses(5, slow, ada)
    expect(await waitOf(slow.check(ada()))).toBe(60)
    expect(await waitOf(slow.check(at('grace')()))).toBe(0)
  })

  test('begins anew when one was right', async () => {
    const slow = loginThrottle()
    await guesses(4, slow, ada)
    await slow.succeeded(ada())
    expect(await guesses(6, slow, ada)).toEqual([...zeros(5), 60])
  })

  test('begins anew when its failures are long ago', async () => {
    const slow = loginThrottle()
    await guesses(4, slow, ada)
    pass(901)
    expect(await guesses(6, slow, ada)).toEqual([...zeros(5), 60])
    pass(60)
    await guesses(1, slow, ada)
    pass(120 + 901)
    expect(await guesses(6, slow, ada)).toEqual([...zeros(5), 60])
  })

  test('is charged for nothing but failures, however many come at once', async () => {
    const slow = loginThrottle()
    await Promise.all(Array.from({ length: 50 }, () => slow.check(ada())))
    await Promise.all(Array.from({ length: 50 }, () => slow.succeeded(ada())))
    expect(await guesses(6, slow, ada)).toEqual([...zeros(5), 60])
  })
})

describe('a client’s address', () => {
  const from = (address: (n: number) => string) => (n: number) => ({
    account: `account ${n}`,
    address: address(n),
  })

  test('may fail twenty times, whichever the accounts', async () => {
    const one = from(() => '192.0.2.1')
    expect(await guesses(21, loginThrottle(), one)).toEqual([...zeros(20), 60])
  })

  test('is not let off because one account of it was right', async () => {
    const slow = loginThrottle()
    await guesses(
      19,
      slow,
      from(() => '192.0.2.1'),
    )
    await slow.succeeded({ account: 'own', address: '192.0.2.1' })
    expect(await guesses(2, slow, () => ({ address: '192.0.2.1' }))).toEqual([0, 60])
  })

  test('is not charged for an account that must wait', async () => {
    const slow = loginThrottle()
    const one = { account: 'ada', address: '192.0.2.1' }
    expect(await guesses(50, slow, () => one)).toEqual([...zeros(5), ...zeros(45).map(() => 60)])
    expect(await waitOf(slow.check({ ...one, account: 'grace' }))).toBe(0)
  })

  test.each([
    ['IPv6: one of the many of a network', (n: number) => `2001:db8:1:2::${n.toString(16)}`],
    ['IPv6 in full', (n: number) => `2001:db8:1:2:${n}:0:0:1`],
    ['IPv4 in the clothes of IPv6', (n: number) => (n % 2 === 0 ? '::ffff:192.0.2.1' : '192.0.2.1')],
  ])('is one client’s whatever its form: %s', async (_, address) => {
    expect((await guesses(21, loginThrottle(), from(address))).at(-1)).toBe(60)
  })

  test('of another network is another client’s', async () => {
    const many = from((n) => `2001:db8:1:${n}::1`)
    expect(await guesses(40, loginThrottle(), many)).toEqual(zeros(40))
  })
})
