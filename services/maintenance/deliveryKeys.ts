/**
 * Destroys the key of each day's deliveries eight days after the end of that day: the ids of people and repositories in them can then no longer be
 * decrypted, while GUIDs, kinds and the chain of the log stay.
 */
import { deliveryStream, parseStream, scopeOfStream } from '#domain/kernel/streams.ts'
import type { Engines } from '#platform/compose.ts'
import { repeat } from '#platform/async/rounds.ts'
import { intact, type EventStore } from '#platform/ports/eventStore.ts'
import type { RunningWork } from '#platform/ports/leases.ts'

export type DeliveryKeysEngines = Pick<Engines, 'eventStore' | 'vault' | 'clock' | 'logger'>

const dayMs = 86_400_000
const keptDays = 8
const intervalMs = 3_600_000
/** Where the vault keeps the next day whose key must be destroyed. The vault also keeps the keys, so a restore brings both back together. */
const mark = { scope: 'delivery-keys', name: 'next-day' } as const

/** Looks for old keys at once and then hourly, until it is stopped. */
export const startDeliveryKeys = (engines: DeliveryKeysEngines): RunningWork =>
  repeat(async (signal) => {
    await destroyDeliveryKeys(engines, signal).catch((fault: unknown) => {
      if (!signal.aborted) engines.logger.error({ err: fault }, 'failed to destroy keys of old deliveries')
    })
    return intervalMs
  })

/** The most days that are looked at in one sweep: a clock that is far ahead would otherwise keep a sweep busy for hours. */
const daysAtOnce = 1_000

/**
 * Destroys the keys of the days with deliveries that ended more than eight days ago. A day without deliveries keeps its key, because it may still come
 * if the clock is ahead. Can be repeated.
 */
export async function destroyDeliveryKeys(
  { eventStore, vault, clock }: DeliveryKeysEngines,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const now = clock.now().getTime()
  const upTo = dayOf(now - keptDays * dayMs)
  const known = await vault.getSecret(mark.scope, mark.name)
  // A mark after today is of a clock that was ahead.
  const first = known !== undefined && known <= dayOf(now) ? known : await firstDay(eventStore)
  if (first === undefined) return
  let day = first
  for (let left = daysAtOnce; left > 0 && day < upTo && !signal.aborted; left -= 1) {
    const stream = deliveryStream(day)
    const last = await eventStore.readStream(stream, { from: 'end', direction: 'backwards', limit: 1 })
    if (last.length > 0) await vault.destroy(scopeOfStream(stream))
    day = dayAfter(day)
  }
  if (day !== known) await vault.putSecret(mark.scope, mark.name, day)
}

/** How many of the first deliveries in the log are read to find an undamaged one. */
const firstOfAll = 100

async function firstDay(eventStore: Pick<EventStore, 'readAll'>): Promise<string | undefined> {
  const [first] = intact(await eventStore.readAll(null, firstOfAll, { streams: [deliveryStream('')] }))
  const name = first && parseStream(first.stream)
  return name?.kind === 'delivery' ? name.id : undefined
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
const dayAfter = (day: string): string => dayOf(Date.parse(`${day}T00:00:00Z`) + dayMs)
