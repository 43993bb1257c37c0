/**
 * Finds deliveries that did not reach us, at a start and every ten minutes, and records them as the webhook's route would have done. The code host
 * tries each delivery once and keeps it for three days. Recorded deliveries are not fetched again, so an aborted round is continued by the next.
 */
import { z } from 'zod'
import { deliveredEvents } from '#domain/webhookDelivery.ts'
import { Fault } from '#domain/kernel/errors.ts'
import { repeat } from '#platform/async/rounds.ts'
import type { Logger } from '#platform/log.ts'
import type { Bus } from '#platform/ports/bus.ts'
import { CodeHostFault } from '#platform/ports/codeHost.ts'
import type { CodeHostApps, HostDelivery } from '#platform/ports/codeHostApp.ts'
import type { RunningWork } from '#platform/ports/leases.ts'
import { hintOf, deliveryRecorder, recordedGuids, type RecordingDeps } from './recordDelivery.ts'

export interface MissedDeliveriesDeps extends RecordingDeps {
  readonly codeHostApps: Pick<CodeHostApps, 'hasKey' | 'failedDeliveries' | 'deliveryPayload'>
  readonly bus: Pick<Bus, 'publish'>
  readonly logger: Logger
}

const intervalMs = 600_000
const afterFaultMs = 60_000
const rememberedMs = 3 * 86_400_000
/** The maximum number of pages per round: 10,000 deliveries. Changes in older deliveries are found when pull requests and issues are next read. */
const maxPages = 100
/** After this many deliveries in a row that could not be fetched, the code host itself is taken to fail, and the round ends. */
const maxFailed = 10
const Guid = z.uuid()

/**
 * Looks for missed deliveries at once and every ten minutes, after a fault sooner, until it is stopped. `hasHook` says whether the code host sends
 * deliveries at all.
 */
export const startMissedDeliveries = (
  deps: MissedDeliveriesDeps,
  hasHook: () => Promise<boolean>,
): RunningWork => repeat((signal) => round(deps, hasHook, signal))

/** Records the deliveries that were missed. Returns the time until the next round, in milliseconds. */
async function round(
  deps: MissedDeliveriesDeps,
  hasHook: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<number> {
  try {
    if (!(await hasHook()) || !(await deps.codeHostApps.hasKey())) return intervalMs
    const recorded = await recordMissed(deps, signal)
    if (recorded > 0) deps.logger.info({ recorded }, 'recorded deliveries that had been missed')
    return intervalMs
  } catch (fault) {
    if (signal.aborted) return 0
    const isExpected = fault instanceof CodeHostFault || fault instanceof Fault
    if (!isExpected) deps.logger.error({ err: fault }, 'failed to look for missed deliveries')
    const waitMs = fault instanceof CodeHostFault ? fault.retryAfterMs : undefined
    return Math.min(Math.max(waitMs ?? afterFaultMs, afterFaultMs), intervalMs)
  }
}

/**
 * Records failed deliveries that are not in the log, the oldest first. Returns their number. Throws CodeHostFault, after the others were recorded if
 * only some deliveries could not be fetched.
 */
export async function recordMissed(
  deps: MissedDeliveriesDeps,
  signal: AbortSignal = new AbortController().signal,
): Promise<number> {
  const isRecorded = await recordedGuids(deps)
  const record = deliveryRecorder(deps)
  const missed = (await failedOnes(deps, signal)).filter(({ guid }) => !isRecorded(guid))
  let first: CodeHostFault | undefined
  let failedInRow = 0
  let count = 0
  for (const { id, guid, event } of missed.toReversed()) {
    if (signal.aborted) break
    const payload = await payloadOf(deps, id).then(
      (read) => {
        failedInRow = 0
        return read
      },
      (fault: unknown) => {
        failedInRow += 1
        const isOfOne = fault instanceof CodeHostFault && ['invalid', 'unavailable'].includes(fault.kind)
        if (!isOfOne || failedInRow >= maxFailed) throw fault
        first ??= fault
        return undefined
      },
    )
    const hint = payload === undefined ? null : hintOf(guid, event, payload)
    if (hint === null) continue
    await record(hint)
    count += 1
    if (event.startsWith('installation')) deps.bus.publish('installations', { changed: true })
  }
  if (first) throw first
  return count
}

/** The deliveries of the last three days that failed and whose events we act on: each GUID once, newest first. */
async function failedOnes(
  { codeHostApps, clock }: MissedDeliveriesDeps,
  signal: AbortSignal,
): Promise<readonly HostDelivery[]> {
  const since = clock.now().getTime() - rememberedMs
  const byGuid = new Map<string, HostDelivery>()
  let cursor: string | null = null
  for (let page = 0; page < maxPages && !signal.aborted; page += 1) {
    const { deliveries, next } = await codeHostApps.failedDeliveries(cursor)
    for (const one of deliveries) {
      const guid = Guid.safeParse(one.guid).data?.toLowerCase()
      const isOurs = deliveredEvents.some((known) => known === one.event)
      if (guid !== undefined && isOurs && !byGuid.has(guid)) byGuid.set(guid, { ...one, guid })
    }
    const oldest = deliveries.at(-1)
    if (next === null || oldest === undefined || Date.parse(oldest.deliveredAt) < since) break
    cursor = next
  }
  return [...byGuid.values()]
}

/** The content of a delivery; `undefined` when the code host no longer has it. */
async function payloadOf({ codeHostApps }: MissedDeliveriesDeps, id: string): Promise<unknown> {
  try {
    return await codeHostApps.deliveryPayload(id)
  } catch (fault) {
    if (fault instanceof CodeHostFault && fault.kind === 'not_found') return undefined
    throw fault
  }
}
