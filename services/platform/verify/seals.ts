/** Checks a log against its seals while it is read: the root in every seal must be that of the events which the seal covers. */
import { sealStream } from '#domain/kernel/streams.ts'
import { hexOf, leafOf } from '#domain/proof/bundleHashes.ts'
import { append, emptyFrontier, leafHash, rootOf, type Frontier } from '#domain/proof/merkleTree.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import { standInHash } from '#platform/seals/damagedLeaf.ts'
import { sealCollections } from '#platform/seals/sealTrees.ts'
import { storedLeaf } from '#platform/seals/storedProofs.ts'
import { isDamaged, type EventStore, type LogRecord } from '#platform/ports/eventStore.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { sealClaims, type Claim, type Claims, type Evidence } from './sealClaims.ts'
import { restoreIn, restoreReport, type Restore, type RestoreReport } from './restores.ts'
import { leafFaults, type LeafWrong, type Stores } from './sealedLeaves.ts'

export type SealFinding =
  | Claims['faults'][number]
  | { readonly wrong: 'seal_cut' | 'seal_broken'; readonly stream: string; readonly revision: number }
  | { readonly wrong: LeafWrong; readonly stream: string; readonly revision: number }
  | RestoreReport['findings'][number]

/** The result of checking seals against a log that was read to its end. */
export interface SealReport {
  readonly findings: readonly SealFinding[]
  /** The number of seals that match, or matched until the log was restored. */
  readonly seals: number
  /** The number of events that matching seals cover, up to the first seal that does not match. */
  readonly sealed: number
  readonly outside: number
  /** Sentences that an operator should know and that are not faults. */
  readonly told: readonly string[]
}

export interface SealChecks {
  /** Adds the next record of the log, with its hash if known. */
  add(record: LogRecord, hash: string | undefined): Promise<void>
  end(): Promise<SealReport>
}

export type SealEvidence = Evidence & Pick<Stores, 'readStore'>

interface Checking {
  readonly claims: Claims
  frontier: Frontier
  /** The claims that do not match the log, by ascending size. */
  readonly broken: Set<Claim>
  readonly restores: Restore[]
}

const { sha256 } = cryptography

export async function sealChecks(
  eventStore: Pick<EventStore, 'readAll' | 'readStream'>,
  evidence: SealEvidence,
): Promise<SealChecks> {
  await evidence.readStore.prepare(sealCollections)
  const claims = await sealClaims(eventStore, evidence)
  const checking: Checking = { claims, frontier: emptyFrontier, broken: new Set(), restores: [] }
  return {
    add: (record, hash) => add(checking, evidence.readStore, record, hash),
    end: () => end(checking, { eventStore, readStore: evidence.readStore }, evidence),
  }
}

async function add(
  checking: Checking,
  readStore: Pick<ReadStore, 'getMany'>,
  record: LogRecord,
  hash: string | undefined,
): Promise<void> {
  const { frontier } = checking
  const restore = isDamaged(record)
    ? undefined
    : restoreIn(record, () => ({ size: frontier.size, root: hexOf(rootOf(sha256, frontier)) }))
  if (restore) checking.restores.push(restore)
  // The stored trees may still have the hash of a damaged record.
  const stored = hash === undefined ? await storedLeaf(readStore, frontier.size) : undefined
  const leaf = stored ?? leafHash(sha256, leafOf(hash ?? standInHash(record)))
  checking.frontier = append(sha256, frontier, leaf)
  const claimed = checking.claims.bySize.get(checking.frontier.size)
  if (claimed === undefined) return
  const root = hexOf(rootOf(sha256, checking.frontier))
  for (const claim of claimed) if (claim.root !== root) checking.broken.add(claim)
}

async function end(
  checking: Checking,
  stores: Stores,
  { identity: { logId }, keysOf }: Evidence,
): Promise<SealReport> {
  const { claims, frontier, restores } = checking
  const all = [...claims.bySize.values()].flat()
  // A seal is lost if it was made after the copy from which the log was restored.
  const epochs = new Set([1, ...restores.map(({ epoch }) => epoch)])
  const isLost = ({ epoch, size }: Claim) =>
    size > (epochEnd(restores, epoch) ?? size) ||
    (!epochs.has(epoch) && epochEnd(restores, epoch) !== undefined)
  const cut = all.filter((claim) => claim.size > frontier.size && !isLost(claim))
  const broken = [...checking.broken].filter((claim) => !isLost(claim))
  const intactEnd = Math.min(frontier.size, (broken[0]?.size ?? Infinity) - 1)
  const intact = all
    .filter((claim) => claim.size <= intactEnd && !checking.broken.has(claim))
    .reduce((most, { size }) => Math.max(most, size), 0)
  const findings: SealFinding[] = [...claims.faults]
  const newest = [...broken, ...cut].toSorted((one, other) => other.size - one.size)[0]
  if (newest !== undefined) {
    const named = (await leafFaults(stores, newest, intact)) ?? []
    findings.push(...named)
    const seals = named.length > 0 ? [newest] : [...broken, ...cut]
    findings.push(
      ...seals.map((claim) => ({
        wrong: claim.size > frontier.size ? ('seal_cut' as const) : ('seal_broken' as const),
        stream: sealStream(claim.epoch),
        revision: claim.revision,
      })),
    )
  }
  const restored = await restoreReport(restores, all.filter(isLost), { logId, keysOf })
  return {
    findings: [...restored.findings, ...findings],
    told: [...restored.told, ...claims.told],
    seals: all.length - broken.length - cut.length,
    sealed: intact,
    outside: claims.outside,
  }
}

function epochEnd(restores: readonly Restore[], epoch: number): number | undefined {
  const later = restores.filter((restore) => restore.epoch > epoch).map(({ size }) => size)
  return later.length === 0 ? undefined : Math.min(...later)
}
