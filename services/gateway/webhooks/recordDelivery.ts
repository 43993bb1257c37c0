/** Records deliveries in the log, each GUID once in eight days. Those that come together are appended together. */
import { receivedDeliveries, type DeliveryReceived, type ReceivedDeliveries } from '#domain/delivery.ts'
import { deliveryStream } from '#domain/kernel/streams.ts'
import { bySystem } from '#platform/commands/causation.ts'
import type { Commands } from '#platform/commands/execute.ts'
import type { Clock } from '#platform/ports/clock.ts'

export interface RecordingDeps {
  readonly commands: Pick<Commands, 'execute' | 'load'>
  readonly clock: Clock
}

/** How long a GUID is remembered, beside the day on which it came. */
export const rememberedDays = 7
const dayMs = 24 * 3_600_000
const maxAtOnce = 250

type PastDays = Map<string, ReceivedDeliveries>

interface Waiting {
  readonly delivery: DeliveryReceived
  readonly done: () => void
  readonly failed: (fault: unknown) => void
}

/** Resolves once the delivery is in the log, now or since it came before. Throws `EngineUnavailable`. */
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
  await deps.commands.execute(
    receivedDeliveries,
    streamOf(now),
    { type: 'RecordDeliveries', deliveries: fresh },
    bySystem('webhooks'),
  )
}

/** Tells whether a GUID is in the log, among those of today and of the days before that are remembered. */
export async function recordedGuids(deps: RecordingDeps): Promise<(guid: string) => boolean> {
  const now = deps.clock.now().getTime()
  const [today, earlier] = await Promise.all([
    deps.commands.load(receivedDeliveries, streamOf(now)),
    earlierDays(deps, new Map(), now),
  ])
  const days = [today.state, ...earlier]
  return (guid) => days.some(({ guids }) => guids.has(guid))
}

/** The days before today. They are over, so each is read once; yesterday may still be ending in another process. */
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
      const { state } = await deps.commands.load(receivedDeliveries, stream)
      past.set(stream, state)
      return state
    }),
  )
}

const streamOf = (at: number): string => deliveryStream(new Date(at).toISOString().slice(0, 10))
