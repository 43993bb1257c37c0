/**
 * Webhook deliveries of the code host. A delivery only tells us what to read again and is never a source of facts, so we keep only its kind, its
 * action and its ids. The code host's ids are content, which is encrypted with a key for each day.
 */
import { z } from 'zod'
import type { Decider } from './kernel/decider.ts'
import { event, type EventOf } from './kernel/event.schema.ts'

const Id = z.string().max(40).nullable()

/** The events that we act on, under the code host's names. Other events are acknowledged and dropped. */
export const deliveredEvents = [
  'pull_request',
  'push',
  'pull_request_review',
  'pull_request_review_comment',
  'pull_request_review_thread',
  'issue_comment',
  'issues',
  'check_run',
  'check_suite',
  'status',
  'installation',
  'installation_repositories',
  'repository',
  'github_app_authorization',
] as const
export type DeliveredEvent = (typeof deliveredEvents)[number]

export const senderTypes = ['User', 'Bot', 'Organization'] as const

/** A webhook was delivered. Redeliveries have the same GUID. */
export const DeliveryReceived = event('DeliveryReceived', 1, {
  data: z.object({
    guid: z.uuid(),
    event: z.enum(deliveredEvents),
    /** The code host's name for the action, such as `opened`. */
    action: z.string().max(64).nullable(),
    senderType: z.enum(senderTypes).nullable(),
  }),
  content: z.object({
    installationId: Id,
    repositoryId: Id,
    /** The number of the pull request to which the delivery refers. */
    pullRequest: z.int().nullable(),
    issue: z.int().nullable(),
    headCommit: z.string().max(64).nullable(),
    reviewId: Id,
    commentId: Id,
    checkRunId: Id,
    checkSuiteId: Id,
    senderId: Id,
  }),
})
export type DeliveryReceived = EventOf<typeof DeliveryReceived>

export const deliveryEvents = [DeliveryReceived] as const
export type DeliveryEvent = EventOf<(typeof deliveryEvents)[number]>

export interface ReceivedDeliveries {
  readonly guids: ReadonlySet<string>
}

export interface RecordDeliveries {
  readonly type: 'RecordDeliveries'
  readonly deliveries: readonly DeliveryReceived[]
}

export const receivedDeliveries: Decider<ReceivedDeliveries, RecordDeliveries, DeliveryEvent> = {
  initial: { guids: new Set() },
  decide({ deliveries }, { guids }) {
    const fresh = new Map(deliveries.map((delivery) => [delivery.data.guid, delivery]))
    return [...fresh.values()].filter(({ data }) => !guids.has(data.guid))
  },
  evolve: ({ guids }, { data }) => ({ guids: withGuid(guids, data.guid) }),
}

/** A set that all states of a stream share. A day has thousands of deliveries, and copying the set for each would take quadratic time. */
class GrowingSet extends Set<string> {}

/**
 * Adds a GUID to the shared set. An older state therefore has the GUIDs of later events too, which is harmless, since those events are in the log.
 */
function withGuid(guids: ReadonlySet<string>, guid: string): ReadonlySet<string> {
  return (guids instanceof GrowingSet ? guids : new GrowingSet(guids)).add(guid)
}
