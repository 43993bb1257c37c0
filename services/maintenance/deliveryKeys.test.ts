/** For how long the deliveries of a day can be decrypted, with real engines. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DeliveryReceived } from '#domain/webhookDelivery.ts'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { cause, openTestEngines, type TestEngines } from '../../tests/server/engines.ts'
import { destroyDeliveryKeys } from './deliveryKeys.ts'

let engines: TestEngines
beforeEach(async () => {
  engines = await openTestEngines()
})
afterEach(() => engines.close())

async function deliver(day: string): Promise<void> {
  const stream = deliveryStream(day)
  const ids = { installationId: '1', repositoryId: '7', senderId: '1001', reviewId: null, commentId: null }
  const rest = { pullRequest: 1, issue: null, headCommit: null, checkRunId: null, checkSuiteId: null }
  const delivery = DeliveryReceived.of(
    { guid: randomUUID(), event: 'push', action: null, senderType: 'User' },
    { ...ids, ...rest },
  )
  await engines.log.append(stream, await engines.log.headOf(stream), [delivery], cause())
}

/** The repositories that the deliveries of a day still name. */
async function named(day: string): Promise<readonly (string | null)[]> {
  const found = await engines.log.read(deliveryStream(day), 0, 100)
  return found.map((event) =>
    event.type === 'DeliveryReceived' && event.content !== null ? event.content.repositoryId : null,
  )
}

const at = (now: string) => destroyDeliveryKeys({ ...engines, clock: { now: () => new Date(now) } })

test('a day opens for eight days after it, and never again', async () => {
  const days = ['2026-01-01', '2026-01-02', '2026-01-09']
  for (const day of days) await deliver(day)
  await at('2026-01-09T23:59:59Z')
  expect(await Promise.all(days.map(named))).toEqual([['7'], ['7'], ['7']])
  await at('2026-01-10T00:00:01Z')
  expect(await Promise.all(days.map(named))).toEqual([[null], ['7'], ['7']])
  // After a long stop, the keys of all old days are destroyed at once.
  await deliver('2026-02-20')
  await at('2026-03-01T12:00:00Z')
  expect(await Promise.all([...days, '2026-02-20'].map(named))).toEqual([[null], [null], [null], [null]])
  await deliver('2026-02-28')
  await at('2026-03-01T13:00:00Z')
  expect(await named('2026-02-28')).toEqual(['7'])
})

test('a clock that was ahead destroys no key of a day that has not come, and holds up no other', async () => {
  await deliver('2026-01-01')
  await at('2026-06-01T12:00:00Z')
  await deliver('2026-01-12')
  await at('2026-01-12T12:00:00Z')
  expect(await named('2026-01-12')).toEqual(['7'])
  await at('2026-01-21T00:00:01Z')
  expect(await named('2026-01-12')).toEqual([null])
  await at('9000-01-01T12:00:00Z')
  await deliver('2026-01-22')
  expect(await named('2026-01-22')).toEqual(['7'])
})

test('a log without deliveries has nothing to destroy', async () => {
  await at('2026-01-10T00:00:01Z')
  await deliver('2026-01-10')
  expect(await named('2026-01-10')).toEqual(['7'])
})
