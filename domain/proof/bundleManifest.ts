/** Checks the manifest of a bundle: its signature, and whether the bundle has what the manifest lists. */
import { fromBase64 } from '../kernel/base64.ts'
import { unambiguousJson } from '../kernel/unambiguousJson.ts'
import { Manifest } from './auditBundle.schema.ts'
import { blobFaults, contentFaults } from './bundleContents.ts'
import { hexOf, signedBytes, type Cryptography } from './bundleHashes.ts'
import type { BundledEvent, BundleFault, ListedKey, Parts, SignedManifest } from './bundleParts.ts'

const where = 'manifest'

/** The manifest, if one of `keys` signed it, and the faults in the manifest. */
export function signedManifest(
  { manifests }: Pick<Parts, 'manifests'>,
  keys: readonly ListedKey[],
  cryptography: Cryptography,
): { readonly signed: SignedManifest | undefined; readonly faults: readonly BundleFault[] } {
  const none = (kind: BundleFault['kind'], why: string) => ({
    signed: undefined,
    faults: [{ kind, where, why }],
  })
  const [record] = manifests
  if (record === undefined) return none('removed', 'The bundle is cut short: it has no manifest.')
  const payload = fromBase64(record.payload)
  const [signature] = record.signatures
  const sig = fromBase64(signature?.sig ?? '')
  if (payload === undefined || signature === undefined || sig === undefined)
    return none('unreadable', 'Its payload or its signature is no base64.')
  const message = signedBytes(cryptography, record.payloadType, payload)
  const signer = keys.find(({ key }) => cryptography.isSignedBy(key.publicKey, message, sig))
  if (signer === undefined) return none('unsigned', "No key of the header's signed this manifest.")
  const manifest = Manifest.safeParse(unambiguousJson(cryptography.text(payload) ?? '')).data
  if (manifest === undefined) return none('unreadable', 'This is no manifest of a bundle.')
  const why = 'Its keyid is not the key that signed it.'
  return {
    signed: { signer, manifest },
    faults: signature.keyid === signer.text ? [] : [{ kind: 'changed', where, why }],
  }
}

/** Checks whether the bundle has everything that the signed manifest lists, and nothing else. Seals are checked in `bundleSeals.ts`. */
export function manifestFaults(
  { headerLine, streams }: Parts,
  { subject, predicate }: Manifest,
  { sha256, utf8 }: Cryptography,
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  if (hexOf(sha256(utf8(headerLine))) !== predicate.header)
    faults.push({ kind: 'changed', where: 'header', why: 'It is not the header that the manifest signs.' })
  faults.push(...contentFaults(streams, predicate), ...blobFaults(streams, predicate.blobs))
  const hashes = new Map(subject.map(({ name, digest }) => [name, digest.sha256]))
  if (hashes.size !== subject.length || Object.keys(predicate.heads).some((name) => !hashes.has(name)))
    faults.push({ kind: 'added', where, why: 'It names a stream twice, or without a hash.' })
  for (const [name, hash] of hashes)
    faults.push(...headFaults(name, predicate.heads[name] ?? -1, hash, streams.get(name) ?? []))
  for (const stream of streams.keys())
    if (!hashes.has(stream))
      faults.push({ kind: 'added', where: `${stream}@0`, why: 'The manifest does not name this stream.' })
  return faults
}

function headFaults(
  stream: string,
  revision: number,
  hash: string,
  events: readonly BundledEvent[],
): readonly BundleFault[] {
  const last = events.reduce((highest, { event }) => Math.max(highest, event.revision), -1)
  if (last < revision)
    return [
      { kind: 'removed', where: `${stream}@${last + 1}`, why: `The stream goes on to event ${revision}.` },
    ]
  if (last > revision)
    return [
      { kind: 'added', where: `${stream}@${revision + 1}`, why: `The stream ends with event ${revision}.` },
    ]
  const head = events.find(({ event }) => event.revision === last)
  if (head?.event.meta.hash === hash) return []
  return [{ kind: 'changed', where: `${stream}@${last}`, why: 'The stream ended with another event.' }]
}
