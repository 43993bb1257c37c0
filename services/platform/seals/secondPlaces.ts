/** Places beside the log's own file that seals are brought to, out of reach of whoever can write to this machine. */
import type { LogIdentity } from '#domain/log.ts'
import type { Hash } from '#domain/proof/merkleTree.ts'
import { within, withinOr } from '#platform/async/timeLimit.ts'
import type { Logger } from '#platform/log.ts'
import type { OutsideSeal } from './sealsFile.ts'

/** The log that is sealed, as a place asks of it. */
export interface SealedLogView {
  readonly identity: LogIdentity
  /** Proves that the log of the older size is the beginning of the newer; `undefined` when it cannot. */
  consistency(older: number, newer: number): Promise<readonly Hash[] | undefined>
  /** What a signed checkpoint says against the log, in a sentence. */
  contradiction(note: string): Promise<string | undefined>
}

export type Placed =
  /** `cosigned` is the checkpoint with the place's own signature. */
  | { readonly kind: 'held'; readonly cosigned?: string }
  /** The place holds a seal that this log does not begin with. */
  | { readonly kind: 'contradicted'; readonly why: string }

export interface SecondPlace {
  readonly name: string
  /** Brings the place up to the seal, which it may have already. Throws when it cannot be reached, or when `signal` aborts. */
  put(seal: OutsideSeal, log: SealedLogView, signal: AbortSignal): Promise<Placed>
}

export interface SecondPlaces {
  /** Asks every place that can be reached whether the seal fits what it holds. */
  check(seal: OutsideSeal): Promise<void>
  /** Brings the seal to every place, in the background; of seals that wait for a slow place only the newest counts. */
  publish(seal: OutsideSeal): void
  /** What a place holds against the log; `null` while none does. */
  contradiction(): string | null
  /** Brings no more seals anywhere. Gives what is under way a moment to end, and then leaves it: the next start sends the newest seal again. */
  stop(): Promise<void>
}

const longestMs = 30_000
const graceMs = 1_000

export function secondPlaces(
  places: readonly SecondPlace[],
  log: SealedLogView,
  {
    logger,
    onCosigned,
  }: { readonly logger: Logger; readonly onCosigned: (seal: OutsideSeal) => Promise<void> },
): SecondPlaces {
  let contradiction: string | null = null
  const waiting = new Map<SecondPlace, OutsideSeal>()
  const running = new Map<SecondPlace, Promise<void>>()
  const stopping = new AbortController()
  const { signal } = stopping
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  stopped.catch(() => undefined)
  const bring = async (place: SecondPlace, seal: OutsideSeal) => {
    try {
      const placed = await within(
        longestMs,
        place.put(seal, log, signal),
        () => new Error('It takes too long.'),
      )
      if (placed.kind === 'contradicted') contradiction = placed.why
      else if (placed.cosigned !== undefined) await onCosigned({ ...seal, checkpoint: placed.cosigned })
    } catch (fault) {
      if (!signal.aborted)
        logger.warn({ err: fault, place: place.name }, 'a seal could not be brought to a second place')
    }
  }
  const work = async (place: SecondPlace) => {
    for (let seal = waiting.get(place); seal && !signal.aborted; seal = waiting.get(place)) {
      waiting.delete(place)
      await bring(place, seal)
    }
    running.delete(place)
  }
  return {
    async check(seal) {
      await Promise.all(places.map((place) => bring(place, seal)))
    },
    publish(seal) {
      for (const place of places) {
        waiting.set(place, seal)
        if (!running.has(place)) running.set(place, work(place))
      }
    },
    contradiction: () => contradiction,
    async stop() {
      await withinOr(graceMs, Promise.all(running.values()), undefined)
      stopping.abort()
      await Promise.all(running.values())
    },
  }
}
