/** What the seals of a log say of it: those that it holds itself, and those that were written outside. */
import { logStream } from '#domain/kernel/streams.ts'
import { LogRestored, type LogIdentity } from '#domain/log.ts'
import { hexOf } from '#domain/proof/bundleHashes.ts'
import { parseCheckpoint, parseNote, type VerifierKey } from '#domain/proof/checkpoint.ts'
import { identityIn, signedCheckpoint } from '#domain/proof/sealNotes.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { outsideSeal, sealsFrom } from '#platform/seals/newestSeal.ts'
import type { OutsideSeal } from '#platform/seals/sealsFile.ts'

/** That the first `size` events had this root. */
export interface Claim {
  readonly epoch: number
  readonly size: number
  /** In hex. */
  readonly root: string
  /** Of the seal in its stream. */
  readonly revision: number
}

export interface Claims {
  readonly bySize: ReadonlyMap<number, readonly Claim[]>
  /** Seals that cannot be believed, or that the log does not have any more, each with what is wrong with it. */
  readonly faults: readonly { readonly epoch: number; readonly revision: number; readonly wrong: SealWrong }[]
  readonly count: number
  /** Seals of this log that were found outside of it. */
  readonly outside: number
}
export type SealWrong = 'seal_unsigned' | 'seal_missing'

export interface Evidence {
  readonly identity: LogIdentity
  /** The keys under the name that the log has in an epoch. */
  readonly keysOf: (epoch: number) => Promise<readonly VerifierKey[]>
  /** The seals that were written outside; `undefined` for a line that cannot be read. */
  readonly outside: () => AsyncIterable<OutsideSeal | undefined>
}

type Streams = Pick<EventStore, 'readStream'>

/** Reads all seals there are. Lines outside that belong to another log, or that a kill cut off, say nothing. */
export async function sealClaims(store: Streams, evidence: Evidence): Promise<Claims> {
  const bySize = new Map<number, Claim[]>()
  const faults: Claims['faults'][number][] = []
  const keys = new Map<number, readonly VerifierKey[]>()
  const recorded = new Set<string>()
  const seen = new Set<string>()
  const outside = new Set<string>()
  const take = async ({ checkpoint: note, revision }: OutsideSeal): Promise<number | undefined> => {
    const claimed = parseCheckpoint(parseNote(note)?.text ?? '')
    const of = claimed && identityIn(claimed.origin)
    if (!claimed || of?.logId !== evidence.identity.logId) return undefined
    const known = keys.get(of.epoch) ?? (await evidence.keysOf(of.epoch))
    keys.set(of.epoch, known)
    const id = `${of.epoch}/${revision}/${note}`
    if (seen.has(id)) return of.epoch
    seen.add(id)
    if (signedCheckpoint(cryptography, note, known) === undefined)
      faults.push({ epoch: of.epoch, revision, wrong: 'seal_unsigned' })
    else {
      const { size } = claimed
      const claim = { epoch: of.epoch, size, root: hexOf(claimed.root), revision }
      bySize.set(size, [...(bySize.get(size) ?? []), claim])
    }
    return of.epoch
  }
  for (const epoch of await epochsOf(store))
    for await (const seal of sealsFrom(store, { epoch }, 0)) {
      await take(outsideSeal(evidence.identity.logId, seal))
      recorded.add(`${epoch}/${seal.revision}`)
    }
  for await (const seal of evidence.outside()) {
    const epoch = seal && (await take(seal))
    if (epoch !== undefined) outside.add(`${epoch}/${seal?.revision}`)
    if (seal && epoch === evidence.identity.epoch && !recorded.has(`${epoch}/${seal.revision}`))
      faults.push({ epoch, revision: seal.revision, wrong: 'seal_missing' })
  }
  return { bySize, faults, count: seen.size, outside: outside.size }
}

/** The epochs that the log has been in. */
async function epochsOf(store: Streams): Promise<readonly number[]> {
  const events = await store.readStream(logStream, { from: 0, direction: 'forwards', limit: 10_000 })
  const restored = events.flatMap(({ type, data }) =>
    type === LogRestored.type ? (LogRestored.data.safeParse(data).data?.epoch ?? []) : [],
  )
  return [1, ...restored]
}
