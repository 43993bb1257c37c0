/** Compares two audit bundles of a log, because a log must show the same events to all readers. */
import { originOf, type Cryptography } from './bundleHashes.ts'
import type { BundleFault, Parts } from './bundleParts.ts'
import { signedManifest } from './bundleManifest.ts'
import { signedHeader } from './bundleProofs.ts'
import { provenSeals, rootIn, type ProvenSeals } from './bundleSeals.ts'
import { parseInclusionProof } from './checkpoint.ts'
import { isSame } from './merkleTree.ts'
import { readBundle } from './readBundle.ts'

export interface BundleComparison {
  /** Whether the two bundles agree. With `not_compared`, they cannot be compared, and `why` is the reason. */
  readonly verdict: 'agree' | 'contradict' | 'not_compared'
  readonly contradictions: readonly BundleFault[]
  readonly why?: 'unreadable' | 'other_log' | 'too_old'
  /** With `too_old`: the size of the smaller tree. Download the bundle with the larger tree again with `?seal=<size>` to compare the bundles. */
  readonly size?: number
  /** For two bundles of the same task: which bundle has more events, and how many more. */
  readonly extension?: { readonly longer: 'first' | 'second' | 'neither'; readonly events: number }
}

/** Compares two bundles, which must already have been verified without faults. */
export function compareBundles(
  first: Iterable<string>,
  second: Iterable<string>,
  cryptography: Cryptography,
): BundleComparison {
  const [one, other] = [comparable(first, cryptography), comparable(second, cryptography)]
  if (one === undefined || other === undefined)
    return { verdict: 'not_compared', contradictions: [], why: 'unreadable' }
  if (one.origin !== other.origin) return { verdict: 'not_compared', contradictions: [], why: 'other_log' }
  const contradictions = [
    ...recordFaults(one.parts, other.parts),
    ...leafFaults(one.parts, other.parts),
    ...treeFaults(one.proven, other.proven),
    ...treeFaults(other.proven, one.proven),
  ]
  if (contradictions.length > 0) {
    const once = new Map(contradictions.map((each) => [each.where, each]))
    return { verdict: 'contradict', contradictions: [...once.values()] }
  }
  const [older, newer] =
    one.proven.checkpoint.size <= other.proven.checkpoint.size
      ? [one.proven, other.proven]
      : [other.proven, one.proven]
  const { size } = older.checkpoint
  if (typeof rootIn(newer, size) === 'string')
    return { verdict: 'not_compared', contradictions: [], why: 'too_old', size }
  const extension = extensionOf(one.parts, other.parts)
  return { verdict: 'agree', contradictions: [], ...(extension && { extension }) }
}

interface Comparable {
  readonly origin: string
  readonly parts: Parts
  readonly proven: ProvenSeals
}

function comparable(lines: Iterable<string>, cryptography: Cryptography): Comparable | undefined {
  const read = readBundle(lines)
  if (typeof read === 'string' || read.parts.header === undefined) return undefined
  const { parts } = read
  const { keys, checkpoint } = signedHeader(read.parts.header, cryptography)
  const { signed } = signedManifest(parts, keys, cryptography)
  if (checkpoint === undefined || signed === undefined) return undefined
  const { proven } = provenSeals(parts, checkpoint, signed.manifest.predicate.seals, cryptography)
  return { origin: originOf(read.parts.header), parts, proven }
}

function recordFaults(one: Parts, other: Parts): readonly BundleFault[] {
  return [...one.streams].flatMap(([stream, events]) => {
    const hashes = new Map(
      (other.streams.get(stream) ?? []).map(({ event }) => [event.revision, event.meta.hash]),
    )
    return events.flatMap(({ event: { revision, meta } }): readonly BundleFault[] => {
      const hash = hashes.get(revision) ?? meta.hash
      const why = 'The two bundles have different events here.'
      return hash === meta.hash ? [] : [{ kind: 'changed', where: `${stream}@${revision}`, why }]
    })
  })
}

/** A fault for each place in the log for which the proofs of the two bundles name different events. */
function leafFaults(one: Parts, other: Parts): readonly BundleFault[] {
  const places = leavesOf(other)
  return [...leavesOf(one)].flatMap(([index, event]): readonly BundleFault[] => {
    const there = places.get(index) ?? event
    const why = `The first bundle has ${event} in this place of the log, and the second ${there}.`
    return there === event ? [] : [{ kind: 'changed', where: `event ${index} of the log`, why }]
  })
}

function leavesOf({ proofs }: Parts): ReadonlyMap<number, string> {
  return new Map(
    proofs.flatMap(({ kind, stream, revision, proof }) => {
      const index = kind === 'proof' ? parseInclusionProof(proof)?.index : undefined
      return index === undefined ? [] : [[index, `${stream}@${revision}`] as const]
    }),
  )
}

/** A fault for each seal in the bundle `one` that contradicts the bundle `other`, or that `other` should list but does not. */
function treeFaults(one: ProvenSeals, other: ProvenSeals): readonly BundleFault[] {
  return [...one.roots].flatMap(([size, root]): readonly BundleFault[] => {
    const there = rootIn(other, size)
    const isSeal = size === one.checkpoint.size || one.sizes.includes(size)
    const where = `seal ${size}`
    if (there === 'no_seal')
      return isSeal
        ? [{ kind: 'removed', where, why: 'One bundle has this seal, and the other does not.' }]
        : []
    if (typeof there === 'string' || isSame(there, root)) return []
    return [{ kind: 'changed', where, why: 'The two bundles have different roots for this size.' }]
  })
}

function extensionOf(one: Parts, other: Parts): BundleComparison['extension'] {
  if (one.header?.taskId !== other.header?.taskId) return undefined
  const lengthOf = ({ streams }: Parts) => [...streams.values()].flat().length
  const more = lengthOf(other) - lengthOf(one)
  return { longer: more === 0 ? 'neither' : more > 0 ? 'second' : 'first', events: Math.abs(more) }
}
