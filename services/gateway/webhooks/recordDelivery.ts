/** Records deliveries of the code host in the log, each GUID only once in eight days. Deliveries that arrive together are appended together. */
import {
  receivedDeliveries,
  DeliveryReceived,
  deliveredEvents,
  senderTypes,
  type ReceivedDeliveries,
} from '#domain/webhookDelivery.ts'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Commands } from '#platform/commands/execute.ts'
import { UnreadableEvent } from '#platform/eventlog/eventLog.ts'
import type { Clock } from '#platform/ports/clock.ts'
import { z } from 'zod'

const id = z.int().nonnegative().transform(String).nullish().catch(null)
const number = z.int().positive().nullish().catch(null)
const commit = z
  .string()
  .regex(/^[0-9a-f]{40,64}$/)
  .nullish()
  .catch(null)
const WithId = z.object({ id }).nullish().catch(null)
const Checked = z.object({ id, head_sha: commit }).nullish().catch(null)

const Payload = z.object({
  action: z
    .string()
    .regex(/^[a-z_]{1,64}$/)
    .nullish()
    .catch(null),
  installation: WithId,
  repository: WithId,
  pull_request: z
    .object({ number, head: z.object({ sha: commit }).nullish().catch(null) })
    .nullish()
    .catch(null),
  /** The issue; a pull request comes as an issue with the field `pull_request`. */
  issue: z.object({ number, pull_request: z.unknown().optional() }).nullish().catch(null),
  review: WithId,
  comment: WithId,
  check_run: Checked,
  check_suite: Checked,
  /** The commit of a `status` event. */
  sha: commit,
  /** The new head after a `push` event. */
  after: commit,
  sender: z
    .object({ id, type: z.enum(senderTypes).nullish().catch(null) })
    .nullish()
    .catch(null),
})

const DeliveredEvent = z.enum(deliveredEvents)

/** Reads from a payload the ids that the delivery is about. `null` for events that we do not act on, and for a payload that is no object. */
export function hintOf(guid: string, name: string, payload: unknown): DeliveryReceived | null {
  const event = DeliveredEvent.safeParse(name)
  const read = Payload.safeParse(payload)
  if (!event.success || !read.success) return null
  const { action, installation, repository, pull_request, issue, review, comment, sender } = read.data
  const { check_run, check_suite, sha, after } = read.data
  const isPullRequest = issue?.pull_request !== undefined && issue.pull_request !== null
  return DeliveryReceived.of(
    { guid, event: event.data, action: action ?? null, senderType: sender?.type ?? null },
    {
      installationId: installation?.id ?? null,
      repositoryId: repository?.id ?? null,
      pullRequest: pull_request?.number ?? (isPullRequest ? (issue?.number ?? null) : null),
      issue: isPullRequest ? null : (issue?.number ?? null),
      headCommit:
        pull_request?.head?.sha ?? check_run?.head_sha ?? check_suite?.head_sha ?? sha ?? after ?? null,
      reviewId: review?.id ?? null,
      commentId: comment?.id ?? null,
      checkRunId: check_run?.id ?? null,
      checkSuiteId: check_suite?.id ?? null,
      senderId: sender?.id ?? null,
    },
  )
}

export interface RecordingDeps {
  readonly commands: Pick<Commands, 'execute' | 'load'>
  readonly clock: Clock
}

/** How many days a GUID is remembered, in addition to the day of its arrival. */
const rememberedDays = 7
const dayMs = 24 * 3_600_000
const maxAtOnce = 250

type PastDays = Map<string, ReceivedDeliveries>

interface Waiting {
  readonly delivery: DeliveryReceived
  readonly done: () => void
  readonly failed: (fault: unknown) => void
}

/**
 * Returns a function that records a delivery unless it was recorded before. It resolves when the delivery is in the log, and throws
 * `EngineUnavailable` when the log is unavailable.
 */
export function deliveryRecorder(deps: RecordingDeps): (delivery: DeliveryReceived) => Promise<void> {
  const waiting: Waiting[] = []
  const past: PastDays = new Map()
  let isWriting = false
  async function write(): Promise<void> {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxAtOnce)
      try {
        await append(
          deps,
          past,
          batch.map(({ delivery }) => delivery),
        )
        for (const { done } of batch) done()
      } catch (fault) {
        for (const { failed } of batch) failed(fault)
      }
    }
    isWriting = false
  }
  return (delivery) =>
    new Promise((done, failed) => {
      waiting.push({ delivery, done, failed })
      void write()
    })
}

async function append(
  deps: RecordingDeps,
  past: PastDays,
  deliveries: readonly DeliveryReceived[],
): Promise<void> {
  const now = deps.clock.now().getTime()
  const earlier = await earlierDays(deps, past, now)
  const fresh = deliveries.filter(({ data }) => !earlier.some(({ guids }) => guids.has(data.guid)))
  if (fresh.length === 0) return
  const command = { type: 'RecordDeliveries', deliveries: fresh } as const
  const recordIn = (stream: string) =>
    deps.commands.execute(receivedDeliveries, stream, command, bySystem('webhooks'))
  await recordIn(streamOf(now)).catch((fault: unknown) => {
    if (!(fault instanceof UnreadableEvent)) throw fault
    // Nothing can follow an unreadable event, so the deliveries of this day are recorded in advance in the stream of the next.
    return recordIn(streamOf(now + dayMs))
  })
}

/** Returns a function that says whether a GUID is in the log of today or of the remembered days before, or in that of the next day. */
export async function recordedGuids(deps: RecordingDeps): Promise<(guid: string) => boolean> {
  const now = deps.clock.now().getTime()
  const [next, today, earlier] = await Promise.all([
    recordedIn(deps, streamOf(now + dayMs)),
    recordedIn(deps, streamOf(now)),
    earlierDays(deps, new Map(), now),
  ])
  const days = [next, today, ...earlier]
  return (guid) => days.some(({ guids }) => guids.has(guid))
}

/** The GUIDs of the days before today. Each of these days is read once, except yesterday, to which another process may still be adding. */
function earlierDays(
  deps: RecordingDeps,
  past: PastDays,
  now: number,
): Promise<readonly ReceivedDeliveries[]> {
  const streams = Array.from({ length: rememberedDays }, (_, index) => streamOf(now - (index + 1) * dayMs))
  for (const stream of past.keys()) if (!streams.includes(stream)) past.delete(stream)
  return Promise.all(
    streams.map(async (stream, index) => {
      const known = index === 0 ? undefined : past.get(stream)
      if (known) return known
      const state = await recordedIn(deps, stream)
      past.set(stream, state)
      return state
    }),
  )
}

/** The deliveries of a day. An unreadable day counts as empty: at most, some of its deliveries are recorded again. */
async function recordedIn({ commands }: RecordingDeps, stream: string): Promise<ReceivedDeliveries> {
  try {
    return (await commands.load(receivedDeliveries, stream)).state
  } catch (fault) {
    if (!(fault instanceof UnreadableEvent)) throw fault
    return receivedDeliveries.initial
  }
}

const streamOf = (at: number): string => deliveryStream(new Date(at).toISOString().slice(0, 10))
