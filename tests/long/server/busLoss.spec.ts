/** Every second message on the bus is lost: messages are only hints, so viewers miss nothing. */
import { afterEach, expect, test } from 'vitest'
import { noOwnNats } from '../../servers/nats.ts'
import { openLosingBus, type LosingBus } from '../../server/losingBus.ts'

let bus: LosingBus | undefined
afterEach(() => bus?.close())

test('with every second message lost and fifty connections cut, three viewers each hear and see everything, once, in order', async (context) => {
  if (noOwnNats !== undefined) return context.skip(noOwnNats)
  bus = await openLosingBus()
  const { reconnects, events, lost, passed, subjects } = await bus.holdThroughReconnects(50)
  expect(reconnects).toBeGreaterThanOrEqual(50)
  // Appends are told as they come, projections by batches.
  expect(lost).toBeGreaterThan(events / 4)
  expect(passed - lost).toBeLessThanOrEqual(subjects)
})
