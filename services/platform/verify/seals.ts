/** Holds a log against its seals while it is read: every seal must have the root of the events that it is over. */
import { logStream, sealStream } from '#domain/kernel/streams.ts'
import type { StoredEvent } from '#domain/kernel/event.ts'
import { LogRestored } from '#domain/log.ts'
import { hexOf, leafOf } from '#domain/proof/bundleHashes.ts'
import { append, emptyFrontier, leafHash, rootOf, type Frontier } from '#domain/proof/merkleTree.ts'
import { cryptography } from '#platform/seals/cryptography.ts'
import type { EventStore } from '#platform/ports/eventStore.ts'
import { sealClaims, type Claim, type Claims, type Evidence, type SealWrong } from './sealClaims.ts'
import { leafFaults, type LeafWrong, type Stores } from './sealedLeaves.ts'

export type SealFinding =
  | {
      readonly wrong: SealWrong | 'seal_cut' | 'seal_broken'
      readonly stream: string
      readonly revision: number
    }
  | { readonly wrong: LeafWrong; readonly stream: string; readonly revision: number }

/** What seals say of a log that was read to its end. */
export interface SealReport {
  readonly findings: readonly SealFinding[]
  /** Seals that hold, or held until the log was restored. */
  readonly seals: number
  /** Events under the newest seal that holds. */
  readonly sealed: number
  /** Seals that were found outside of the log. */
  readonly outside: number
}

export interface SealChecks {
  /** Takes the next event of the log. */
  add(event: Pick<StoredEvent, 'stream' | 'type' | 'data' | 'meta'>): void
  end(): Promise<SealReport>
}

export type SealEvidence = Evidence & Pick<Stores, 'readStore'>

interface Checking {
  readonly claims: Claims
  frontier: Frontier
  /** The newest size at which every seal held. */
  intact: number
  readonly broken: Claim[]
  /** By epoch, how many events the log had when the epoch ended. */
  readonly ends: Map<number, number>
}

const { sha256 } = cryptography

export async function sealChecks(
  eventStore: Pick<EventStore, 'readAll' | 'readStream'>,
  evidence: SealEvidence,
): Promise<SealChecks> {
  const claims = await sealClaims(eventStore, evidence)
  const checking: Checking = { claims, frontier: emptyFrontier, intact: 0, broken: [], ends: new Map() }
  return {
    add: (event) => add(checking, event),
    end: () => end(checking, { eventStore, readStore: evidence.readStore }),
  }
}

function add(checking: Checking, { stream, type, data, meta }: Parameters<SealChecks['add']>[0]): void {
  if (stream === logStream && type === LogRestored.type) {
    const epoch = LogRestored.data.safeParse(data).data?.epoch
    if (epoch !== undefined) checking.ends.set(epoch - 1, checking.frontier.size)
  }
  checking.frontier = append(sha256, checking.frontier, leafHash(sha256, leafOf(meta.hash)))
  const claimed = checking.claims.bySize.get(checking.frontier.size)
  if (claimed === undefined) return
  const root = hexOf(rootOf(sha256, checking.frontier))
  const wrong = claimed.filter((claim) => claim.root !== root)
  checking.broken.push(...wrong)
  if (wrong.length === 0 && checking.broken.length === 0) checking.intact = checking.frontier.size
}

async function end(checking: Checking, stores: Stores): Promise<SealReport> {
  const { claims, frontier, intact, ends } = checking
  const all = [...claims.bySize.values()].flat()
  // What was sealed after the copy was made that the log was put back from.
  const isLost = ({ epoch, size }: Claim) => size > (epochEnd(ends, epoch) ?? size)
  const cut = all.filter((claim) => claim.size > frontier.size && !isLost(claim))
  const broken = checking.broken.filter((claim) => !isLost(claim))
  const findings: SealFinding[] = claims.faults.map(({ epoch, revision, wrong }) => ({
    wrong,
    stream: sealStream(epoch),
    revision,
  }))
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
  return {
    findings,
    seals: all.length - broken.length - cut.length,
    sealed: intact,
    outside: claims.outside,
  }
}

/** Where the epoch, or one that followed it, ended. */
function epochEnd(ends: ReadonlyMap<number, number>, epoch: number): number | undefined {
  const later = [...ends].filter(([ended]) => ended >= epoch).map(([, size]) => size)
  return later.length === 0 ? undefined : Math.min(...later)
}
