import { expect, test } from 'vitest'
import { given } from '../tests/domain/given.ts'
import { DeliveryReceived, receivedDeliveries } from './webhookDelivery.ts'

const nothing = {
  installationId: null,
  repositoryId: '7',
  pullRequest: 3,
  issue: null,
  headCommit: null,
  reviewId: null,
  commentId: null,
  checkRunId: null,
  checkSuiteId: null,
  senderId: null,
}
const guid = (index: number) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
const received = (index: number) =>
  DeliveryReceived.of(
    { guid: guid(index), event: 'pull_request', action: 'closed', senderType: 'User' },
    nothing,
  )
const record = (...indexes: readonly number[]) =>
  ({ type: 'RecordDeliveries', deliveries: indexes.map(received) }) as const

test('a delivery is recorded once, however often and in whatever order it comes', () => {
  given(receivedDeliveries)
    .when(record(1, 2, 1))
    .then([received(1), received(2)])
  given(receivedDeliveries, [received(2)])
    .when(record(1, 2))
    .then([received(1)])
  given(receivedDeliveries, [received(2), received(1)])
    .when(record(1, 2))
    .thenNothing()
})

test('the initial state stays empty', () => {
  receivedDeliveries.evolve(receivedDeliveries.initial, received(1) as never)
  expect(receivedDeliveries.initial.guids.size).toBe(0)
})
