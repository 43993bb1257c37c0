/** Signatures of witnesses under a checkpoint: c2sp.org/tlog-cosignature, version 1 with Ed25519. */
import type { Cryptography } from './bundleHashes.ts'
import { parseNote, parseVerifierKey, signaturesBy, type VerifierKey } from './checkpoint.ts'

const cosignatureType = 4
const timeBytes = 8

/** Parses the text of a witness's key; `undefined` when it is none. */
export function parseWitnessKey(
  { sha256 }: Pick<Cryptography, 'sha256'>,
  text: string,
): VerifierKey | undefined {
  return parseVerifierKey(sha256, text, cosignatureType)
}

export interface Cosignature {
  readonly witness: string
  /** The time of signing, in seconds since 1970. */
  readonly time: number
}

/** When the witness signed this note; `undefined` when it did not, `forged` when a signature in its name is invalid. */
export function cosignatureBy(
  witness: VerifierKey,
  note: string,
  { utf8, isSignedBy }: Cryptography,
): Cosignature | 'forged' | undefined {
  const parsed = parseNote(note)
  const [first, ...more] = parsed === undefined ? [] : signaturesBy(parsed, witness)
  if (parsed === undefined || first === undefined) return undefined
  const { signature } = first
  if (more.length > 0 || signature.length !== timeBytes + 64) return 'forged'
  const { buffer, byteOffset } = signature
  const time = Number(new DataView(buffer, byteOffset, timeBytes).getBigUint64(0))
  const message = utf8(`cosignature/v1\ntime ${time}\n${parsed.text}`)
  return isSignedBy(witness.publicKey, message, signature.slice(timeBytes))
    ? { witness: witness.name, time }
    : 'forged'
}
