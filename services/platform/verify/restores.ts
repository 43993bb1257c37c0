/** Checks the restores of a log, and reports what each restore cut off, as far as seals show it. */
import type { StoredEvent } from '#domain/kernel/event.ts'
import { logStream } from '#domain/kernel/streams.ts'
import { LogRestored, RestoredEpoch, type LogIdentity, type RestoredTree } from '#domain/log.ts'
import type { VerifierKey } from '#domain/proof/checkpoint.ts'
import { isRestoreSigned } from '#platform/seals/nextEpoch.ts'
import type { Claim } from './sealClaims.ts'

/** A restore of the log, with the size and the root of the tree over the events before the restore. */
export interface Restore {
  readonly epoch: number
  readonly revision: number
  readonly at: string
  readonly size: number
  /** The root of the tree over the log before the restore, in hex. */
  readonly root: string
  /** The signed tree; `null` when the restore is not signed. */
  readonly tree: RestoredTree | null
}

export type RestoreWrong = 'restore_unsigned' | 'restore_forged' | 'restore_elsewhere'

/** The restore that an event records; `undefined` for any other event. */
export function restoreIn(
  {
    stream,
    type,
    version,
    revision,
    at,
    data,
  }: Pick<StoredEvent, 'stream' | 'type' | 'version' | 'revision' | 'at' | 'data'>,
  before: () => Pick<Restore, 'size' | 'root'>,
): Restore | undefined {
  const epoch = RestoredEpoch.safeParse(data).data?.epoch
  if (stream !== logStream || type !== LogRestored.type || epoch === undefined) return undefined
  const tree = version < LogRestored.version ? null : (LogRestored.data.safeParse(data).data?.tree ?? null)
  return { epoch, revision, at, tree, ...before() }
}

export interface RestoreReport {
  readonly findings: readonly {
    readonly wrong: RestoreWrong
    readonly stream: string
    readonly revision: number
  }[]
  /** A sentence for each restore. */
  readonly told: readonly string[]
}

/**
 * The report on all restores. An unsigned restore is not a fault if a later restore is signed: with that signature, the owner of the key confirmed
 * the log, including the unsigned restore. `lost` are seals that cover events which a later restore cut off.
 */
export async function restoreReport(
  restores: readonly Restore[],
  lost: readonly Claim[],
  {
    logId,
    keysOf,
  }: { readonly logId: string; readonly keysOf: (epoch: number) => Promise<readonly VerifierKey[]> },
): Promise<RestoreReport> {
  const wrongs = await Promise.all(
    restores.map(async (restore) =>
      wrongOf(restore, { logId, epoch: restore.epoch }, await keysOf(restore.epoch)),
    ),
  )
  const lastGood = wrongs.lastIndexOf(undefined)
  return {
    findings: restores.flatMap(({ revision }, index) => {
      const wrong = wrongs[index]
      const isVouched = wrong === 'restore_unsigned' && index < lastGood
      return wrong === undefined || isVouched ? [] : [{ wrong, stream: logStream, revision }]
    }),
    told: restores.map((restore, index) =>
      sentenceOf(restore, wrongs[index], restores[index - 1]?.epoch ?? 1, lost),
    ),
  }
}

function wrongOf(
  { tree, size, root }: Restore,
  identity: LogIdentity,
  keys: readonly VerifierKey[],
): RestoreWrong | undefined {
  if (tree === null) return 'restore_unsigned'
  if (!isRestoreSigned(identity, tree, keys)) return 'restore_forged'
  return tree.size === size && tree.root === root ? undefined : 'restore_elsewhere'
}

function sentenceOf(
  { at, epoch, size }: Restore,
  wrong: RestoreWrong | undefined,
  epochBefore: number,
  lost: readonly Claim[],
): string {
  const beyond = lost.filter((claim) => claim.epoch >= epochBefore && claim.epoch < epoch)
  const most = Math.max(size, ...beyond.map((claim) => claim.size))
  const cut =
    beyond.length === 0
      ? 'No known seal goes beyond them.'
      : `${beyond.length} seals from before go beyond them, up to ${most} events: ${most - size} sealed events were cut off.`
  const signed =
    wrong === undefined ? 'signed by a key of this log' : 'and no key of this log vouches for that'
  return `The log was put back at ${at} to its first ${size} events, as epoch ${epoch}, ${signed}. ${cut}`
}
