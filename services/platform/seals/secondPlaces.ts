/** Keeps copies of the seals in additional places outside of this machine, so that they also show what was changed here. */
import type { LogIdentity } from '#domain/log.ts'
import type { Hash } from '#domain/proof/merkleTree.ts'
import { within, withinOr } from '#platform/async/timeLimit.ts'
import type { Logger } from '#platform/log.ts'
import type { OutsideSeal } from './sealsFile.ts'

/** The questions about the sealed log that a second place may ask before it takes a seal. */
export interface SealedLogView {
  readonly identity: LogIdentity
  /** Proves that the tree of the older size is a prefix of the tree of the newer size; `undefined` when the stored trees cannot prove it. */
  consistency(older: number, newer: number): Promise<readonly Hash[] | undefined>
  /** How a signed checkpoint contradicts the log, in a sentence; `undefined` when it does not. */
  contradiction(note: string): Promise<string | undefined>
}

export type Placed =
  /** `cosigned` is the checkpoint with the place's signature, if the place signs. */
  | { readonly kind: 'held'; readonly cosigned?: string }
  /** The place has a seal that contradicts this log. */
  | { readonly kind: 'contradicted'; readonly why: string }

export interface SecondPlace {
  readonly name: string
  /** Sends the seal to the place, which may already have it. Throws when that fails, or when `signal` aborts. */
  put(seal: OutsideSeal, log: SealedLogView, signal: AbortSignal): Promise<Placed>
}

export interface SecondPlaces {
  /** Sends the seal to all places, and waits until each has taken it, contradicted it or failed. `contradiction` then has the result. */
  check(seal: OutsideSeal): Promise<void>
  /** Sends the seal to all places in the background. If several seals wait for a slow place, only the newest is sent. */
  publish(seal: OutsideSeal): void
  /** How a place last contradicted the log; `null` when none has since the start. */
  contradiction(): string | null
  /** Stops sending. Running transfers get a moment to finish and are then aborted: the next start sends the newest seal again. */
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
