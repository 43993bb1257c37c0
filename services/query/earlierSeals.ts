/** The earlier seals that an audit bundle lists, each with a proof that it sealed the beginning of the same log as the bundle's own seal. */
import { setImmediate as turn } from 'node:timers/promises'
import { toBase64 } from '#domain/kernel/base64.ts'
import { sealStream } from '#domain/kernel/streams.ts'
import type { LogIdentity } from '#domain/log.ts'
import { bytesOfHex } from '#domain/proof/bundleHashes.ts'
import { verifyConsistency, type Hash, type TreeHead } from '#domain/proof/merkleTree.ts'
import type { BundleSource } from '#domain/proof/writeBundle.ts'
import { LogSealed } from '#domain/seal.ts'
import { intact, type EventStore } from '#platform/ports/eventStore.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import type { RecordedSeal } from '#platform/seals/recordedSeals.ts'
import { nothingKnown, rootAt, storedConsistency, type KnownTree } from '#platform/seals/storedProofs.ts'

interface SealSources {
  readonly eventStore: Pick<EventStore, 'readStream'>
  readonly readStore: Pick<ReadStore, 'getMany'>
  readonly logIdentity: LogIdentity
}

/** The maximum number of seals in a bundle's list. */
const maxListed = 500
const provenAtOnce = 20

type Proof = BundleSource['seals']['proofs'][number]

/**
 * At most 500 seals of the present epoch before `newest`, newest first. The list ends before the first seal that cannot be proven. Also returns
 * proofs for those `requestedSizes` that can be proven.
 */
export async function earlierSeals(
  { eventStore, readStore, logIdentity: { epoch } }: SealSources,
  { revision: last, seal: newest }: RecordedSeal,
  requestedSizes: readonly number[],
): Promise<BundleSource['seals']> {
  const known = nothingKnown()
  const head = { size: newest.size, root: bytesOfHex(newest.root) }
  const events =
    last === 0
      ? []
      : await eventStore.readStream(sealStream(epoch), {
          from: last - 1,
          direction: 'backwards',
          limit: maxListed,
        })
  const proofs = new Map<number, Proof>()
  let from = newest.size
  for (const { revision, data } of intact(events)) {
    const seal = LogSealed.data.safeParse(data).data
    const older = seal && { size: seal.size, root: bytesOfHex(seal.root) }
    const proof =
      older && revision === last - 1 - proofs.size ? await proofOf(readStore, older, head, known) : undefined
    // Other work gets its turn now and then, because making all proofs without a break would delay it.
    if (proofs.size % provenAtOnce === 0) await turn()
    // A seal without a proof ends the list. After a gap in the list, a genuine seal would look forged.
    if (proof === undefined) break
    proofs.set(proof.size, proof)
    from = revision === 0 ? 0 : proof.size
  }
  const sizes = [...proofs.keys()]
  const others = [...new Set(requestedSizes)].filter((size) => size < newest.size)
  for (const size of others) {
    const root = proofs.has(size) ? undefined : await rootAt(readStore, 'log', size, known)
    const proof = root && (await proofOf(readStore, { size, root }, head, known))
    if (proof) proofs.set(size, proof)
  }
  return {
    from: last === 0 ? 0 : from,
    sizes,
    asked: others.filter((size) => proofs.has(size)),
    proofs: [...proofs.values()],
  }
}

/** The proof that the older tree is the beginning of the newer tree; `undefined` when the stored trees do not prove it. */
async function proofOf(
  store: SealSources['readStore'],
  older: TreeHead,
  newer: TreeHead,
  known: KnownTree,
): Promise<Proof | undefined> {
  if (older.size >= newer.size) return undefined
  const proof: readonly Hash[] | undefined = await storedConsistency(
    store,
    'log',
    older.size,
    newer.size,
    known,
  )
  return proof && verifyConsistency(cryptography.sha256, older, newer, proof)
    ? { size: older.size, root: toBase64(older.root), proof: proof.map(toBase64) }
    : undefined
}
