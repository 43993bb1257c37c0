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

/** Destroys the keys of all days that ended more than eight days ago. Can be repeated. */
export async function destroyDeliveryKeys(
  { eventStore, vault, clock }: DeliveryKeysEngines,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const upTo = dayOf(clock.now().getTime() - keptDays * dayMs)
  const known = await vault.getSecret(mark.scope, mark.name)
  const first = known ?? (await firstDay(eventStore))
  if (first === undefined) return
  for (let day = first; day < upTo && !signal.aborted; day = dayAfter(day)) {
    await vault.destroy(scopeOfStream(deliveryStream(day)))
    await vault.putSecret(mark.scope, mark.name, dayAfter(day))
  }
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
