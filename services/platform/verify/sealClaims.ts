/** Collects the claims of a log's seals: of the seals in the log, and of those in the file of seals. */
import { logStream, sealStream } from '#domain/kernel/streams.ts'
import { LogRestored, RestoredEpoch, type LogIdentity } from '#domain/log.ts'
import { hexOf } from '#domain/proof/bundleHashes.ts'
import type { VerifierKey } from '#domain/proof/checkpoint.ts'
import { headsOriginOf, signedCheckpoint } from '#domain/proof/sealNotes.ts'
import { intact, type EventStore } from '#platform/ports/eventStore.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { outsideSeal, sealsFrom } from '#platform/seals/recordedSeals.ts'
import type { OutsideSeal, SealLine } from '#platform/seals/sealsFile.ts'
import { compareLines, type LineFault } from './sealLines.ts'

/** A seal's claim that the first `size` events have this root. */
export interface Claim {
  readonly epoch: number
  readonly size: number
  /** The root in hex. */
  readonly root: string
  /** The revision of the seal in its stream. */
  readonly revision: number
}

export interface Claims {
  readonly bySize: ReadonlyMap<number, readonly Claim[]>
  /** Seals that are not authentic or that the log no longer has, and faults in the file of seals. */
  readonly faults: readonly (LineFault | UnsignedSeal)[]
  /** The number of this log's seals that are in the file of seals. */
  readonly outside: number
  /** Sentences about the file of seals that an operator should know and that are not faults. */
  readonly told: readonly string[]
}
export interface UnsignedSeal {
  readonly wrong: 'seal_unsigned'
  readonly stream: string
  readonly revision: number
}

export interface Evidence {
  readonly identity: LogIdentity
  /** Returns the keys of the log, under the name that the log has in this epoch. */
  readonly keysOf: (epoch: number) => Promise<readonly VerifierKey[]>
  /** Returns the lines of the file of seals. */
  readonly outside: () => AsyncIterable<SealLine>
  /** Whether the file was copied before the log, in which case the last seals may be missing in the file. */
  readonly isOutsideOlder?: boolean
}

type Streams = Pick<EventStore, 'readStream'>

/** Reads all seals, and compares the file of seals with those in the log. */
export async function sealClaims(store: Streams, evidence: Evidence): Promise<Claims> {
  const { identity, keysOf, outside, isOutsideOlder = false } = evidence
  const bySize = new Map<number, Claim[]>()
  const faults: UnsignedSeal[] = []
  const keys = new Map<number, readonly VerifierKey[]>()
  const take = async (epoch: number, { checkpoint: note, heads: headsNote, revision }: OutsideSeal) => {
    const known = keys.get(epoch) ?? (await keysOf(epoch))
    keys.set(epoch, known)
    const claimed = signedCheckpoint(cryptography, note, known)?.checkpoint
    const heads = signedCheckpoint(cryptography, headsNote, known)?.checkpoint
    const headsOrigin = headsOriginOf({ ...identity, epoch }, claimed?.size ?? 0)
    if (claimed === undefined || heads?.origin !== headsOrigin) {
      faults.push({ wrong: 'seal_unsigned', stream: sealStream(epoch), revision })
      return
    }
    const claim = { epoch, size: claimed.size, root: hexOf(claimed.root), revision }
    bySize.set(claim.size, [...(bySize.get(claim.size) ?? []), claim])
  }
  const recorded = new Map<number, number>()
  for (const epoch of await epochsOf(store)) {
    recorded.set(epoch, 0)
    for await (const seal of sealsFrom(store, { epoch }, 0)) {
      await take(epoch, outsideSeal(identity.logId, seal))
      recorded.set(epoch, seal.revision + 1)
    }
  }
  const lines = await compareLines(outside(), { store, identity, recorded, isOlder: isOutsideOlder })
  for (const { epoch, seal } of lines.strange) await take(epoch, seal)
  return { bySize, faults: [...faults, ...lines.faults], outside: lines.count, told: lines.told }
}

async function epochsOf(store: Streams): Promise<readonly number[]> {
  const events = await store.readStream(logStream, { from: 0, direction: 'forwards', limit: 10_000 })
  const restored = intact(events).flatMap(({ type, data }) =>
    type === LogRestored.type ? (RestoredEpoch.safeParse(data).data?.epoch ?? []) : [],
  )
  return [1, ...restored]
}
