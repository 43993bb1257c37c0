/** Checks whether the log still matches an earlier seal. */
import type { LogIdentity } from '#domain/log.ts'
import { parseCheckpoint, parseNote, type VerifierKey } from '#domain/proof/checkpoint.ts'
import { isSame } from '#domain/proof/merkleTree.ts'
import { identityIn, signedCheckpoint } from '#domain/proof/sealNotes.ts'
import type { ReadStore } from '#platform/ports/readStore.ts'
import { cryptography } from './cryptography.ts'
import { rootAt } from './storedProofs.ts'

/** An earlier seal. `where` says where it was found, in words that continue 'The last seal'. */
export interface SealedBefore {
  readonly where: string
  readonly note: string
}

export interface SealableLog {
  readonly identity: LogIdentity
  readonly keys: readonly VerifierKey[]
  readonly size: number
  readonly readStore: Pick<ReadStore, 'getMany'>
}

/**
 * How the seal contradicts the log, or why it cannot be checked, in a sentence. `undefined` when the seal is signed and its tree is a prefix of the
 * log, or when the seal is from an earlier epoch.
 */
export async function contradictionIn(
  { where, note }: SealedBefore,
  { identity, keys, size, readStore }: SealableLog,
): Promise<string | undefined> {
  const claimed = parseCheckpoint(parseNote(note)?.text ?? '')
  const of = claimed && identityIn(claimed.origin)
  if (!claimed || !of) return `The last seal ${where} cannot be read.`
  if (of.logId !== identity.logId)
    return `The last seal ${where} is of another log, ${of.logId}. Point SEALS_FILE at a place of this log's own.`
  if (of.epoch < identity.epoch) return undefined
  if (of.epoch > identity.epoch)
    return `The last seal ${where} is of epoch ${of.epoch}, and the log is in epoch ${identity.epoch}: it was put back from an older copy. Run: npm start -- restored`
  if (signedCheckpoint(cryptography, note, keys) === undefined)
    return `The last seal ${where} was not signed by a key of this log.`
  if (claimed.size > size)
    return `The last seal ${where} is over ${claimed.size} events, and the log has ${size}: its end is missing, or it was put back from an older copy. Run: npm start -- verify, or after a restore: npm start -- restored`
  const root = await rootAt(readStore, 'log', claimed.size)
  return root && isSame(root, claimed.root)
    ? undefined
    : `The last seal ${where} does not fit the first ${claimed.size} events of the log: they were changed. Run: npm start -- verify`
}
