/** Missed deliveries are recorded although the code host does not give each of them, with real engines. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import { openTestEngines, type TestEngines } from '../../../tests/server/engines.ts'
import { recordMissed } from './missedDeliveries.ts'

const now = '2026-02-01T12:00:00Z'
const guid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
let engines: TestEngines
let asked: string[]
beforeEach(async () => {
  engines = await openTestEngines()
  asked = []
})
afterEach(() => engines.close())

/** Records the deliveries 1 to `count`, of which 1 is the oldest. The code host throws the fault instead of a delivery's content. */
const record = (count: number, faults: ReadonlyMap<number, CodeHostFault>) =>
  recordMissed({
    ...engines,
    clock: { now: () => new Date(now) },
    codeHostApps: {
      hasKey: async () => true,
      failedDeliveries: async () => ({
        deliveries: Array.from({ length: count }, (_, index) => ({
          id: String(count - index),
          guid: guid(count - index),
          event: 'push',
          action: null,
          deliveredAt: now,
          succeeded: false,
          redelivery: false,
        })),
        next: null,
      }),
      deliveryPayload: async (id) => {
        asked.push(id)
        const fault = faults.get(Number(id))
        if (fault) throw fault
        return {}
      },
    },
  })
const recorded = async () =>
  (await engines.log.read(deliveryStream(now.slice(0, 10)), 0, 100)).flatMap((event) =>
    event.type === 'DeliveryReceived' ? [event.data.guid] : [],
  )
const unavailable = new CodeHostFault('unavailable', 'Away.')

test.each(['unavailable', 'invalid'] as const)(
  'one that the code host never gives keeps no newer one back: %s',
  async (kind) => {
    const fault = new CodeHostFault(kind, 'No.')
    await expect(
      record(
        3,
        new Map([
          [1, fault],
          [2, unavailable],
        ]),
      ),
    ).rejects.toBe(fault)
    expect(await recorded()).toEqual([guid(3)])
    expect(asked).toEqual(['1', '2', '3'])
  },
)

test.each(['rate_limited', 'unauthorized', 'forbidden'] as const)(
  'a refusal that holds for all ends the round: %s',
  async (kind) => {
    const fault = new CodeHostFault(kind, 'No.')
    await expect(record(3, new Map([[2, fault]]))).rejects.toBe(fault)
    expect(await recorded()).toEqual([guid(1)])
  },
)

test('a code host that gives none is not asked for all', async () => {
  const faults = new Map(Array.from({ length: 30 }, (_, index) => [index + 1, unavailable] as const))
  await expect(record(30, faults)).rejects.toBe(unavailable)
  expect(asked).toHaveLength(10)
})
