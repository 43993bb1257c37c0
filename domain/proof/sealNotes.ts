/** The two signed texts of a seal: a checkpoint over the log, and a checkpoint over the last events of all streams. */
import type { LogIdentity } from '../log.ts'
import type { Seal } from '../seal.ts'
import { bytesOfHex, originOf, type Cryptography } from './bundleHashes.ts'
import {
  checkpointText,
  parseCheckpoint,
  parseNote,
  signaturesBy,
  writeNote,
  type Checkpoint,
  type VerifierKey,
} from './checkpoint.ts'
import type { TreeHead } from './merkleTree.ts'

/** The two signed texts of a seal, as we publish them. */
export interface SealNotes {
  /** A tlog-checkpoint over the log. */
  readonly checkpoint: string
  /** A checkpoint over the last events of all streams, made at the same size of the log. */
  readonly heads: string
}

/** The origin of a checkpoint over the last events of all streams. It contains the size of the log. */
export const headsOriginOf = (identity: LogIdentity, size: number): string =>
  `${originOf(identity)}/heads/${size}`

/** The text that is signed at a restore: a checkpoint over the restored log in the new epoch. No seal has the same origin. */
export const restoredText = (identity: LogIdentity, tree: TreeHead): string =>
  checkpointText({ origin: `${originOf(identity)}/restored`, ...tree })

/** The two texts of a seal, before they are signed. */
export function sealTexts(
  identity: LogIdentity,
  log: TreeHead,
  streams: TreeHead,
): { readonly checkpoint: string; readonly heads: string } {
  return {
    checkpoint: checkpointText({ origin: originOf(identity), ...log }),
    heads: checkpointText({ origin: headsOriginOf(identity, log.size), ...streams }),
  }
}

/** The two signed texts of a seal, made from the seal's event. */
export function notesOf(logId: string, seal: Seal): SealNotes {
  const identity = { logId, epoch: seal.epoch }
  const texts = sealTexts(
    identity,
    { size: seal.size, root: bytesOfHex(seal.root) },
    { size: seal.heads.streams, root: bytesOfHex(seal.heads.root) },
  )
  const signed = (text: string, signature: string) =>
    writeNote({
      text,
      signatures: [
        { name: originOf(identity), keyId: bytesOfHex(seal.keyId), signature: bytesOfHex(signature) },
      ],
    })
  return {
    checkpoint: signed(texts.checkpoint, seal.signature),
    heads: signed(texts.heads, seal.heads.signature),
  }
}

/** The checkpoint in a note, and which of `keys` signed it; `undefined` when none of them signed it, or when the note has no checkpoint. */
export function signedCheckpoint(
  { utf8, isSignedBy }: Pick<Cryptography, 'utf8' | 'isSignedBy'>,
  note: string,
  keys: readonly VerifierKey[],
): { readonly checkpoint: Checkpoint; readonly key: VerifierKey } | undefined {
  const parsed = parseNote(note)
  const checkpoint = parsed && parseCheckpoint(parsed.text)
  if (!parsed || !checkpoint) return undefined
  const key = keys.find((each) => {
    const signatures = signaturesBy(parsed, each)
    return (
      signatures.length > 0 &&
      signatures.every(({ signature }) => isSignedBy(each.publicKey, utf8(parsed.text), signature))
    )
  })
  return key && { checkpoint, key }
}

/** The leaf for a stream in the tree over the last events of all streams. */
export function headLeaf(
  { utf8 }: Pick<Cryptography, 'utf8'>,
  { stream, revision, hash }: { readonly stream: string; readonly revision: number; readonly hash: string },
): Uint8Array {
  return utf8(`${stream}\n${revision}\n${hash}\n`)
}

/** The log and epoch in a name that `originOf` made; `undefined` for any other name. */
export function identityIn(origin: string): LogIdentity | undefined {
  const [, logId = '', epoch = ''] = /^flightdeck\.dev\/log\/([0-9a-f-]{36})\/([1-9]\d*)$/.exec(origin) ?? []
  return logId === '' ? undefined : { logId, epoch: Number(epoch) }
}
