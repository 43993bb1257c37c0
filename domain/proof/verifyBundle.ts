/** Checks an audit bundle, and names each record that was changed, removed, added or moved. */
import { fromBase64 } from '../kernel/base64.ts'
import { unambiguousJson } from '../kernel/unambiguousJson.ts'
import { BundleRecord, Manifest, type BundleHeader } from './auditBundle.schema.ts'
import { bundleFormat, bundleVersion, type ContentCategory } from './auditBundle.ts'
import { chainFaults, orderFaults } from './bundleChain.ts'
import { contentFaults } from './bundleContents.ts'
import { signedBytes, type Cryptography } from './bundleHashes.ts'
import type { BundledEvent, BundleFault, Parts, Signed } from './bundleParts.ts'
import type { VerifierKey } from './checkpoint.ts'
import type { Cosignature } from './cosignatures.ts'
import { proofFaults, signedHeader, witnessOf } from './bundleProofs.ts'

export interface BundleReport {
  readonly verdict: 'whole' | 'not_whole' | 'unknown_key' | 'newer_format'
  readonly faults: readonly BundleFault[]
  readonly taskId: string | null
  readonly events: number
  readonly disclosed: number
  readonly erased: number
  /** Contents that the log could not open. */
  readonly unreadable: number
  readonly withheld: Readonly<Partial<Record<ContentCategory, number>>>
  /** The key that signed, as text; `null` when none did that the header names. */
  readonly signedBy: string | null
  /** How many events the log had when it was signed. */
  readonly treeSize: number | null
  /** The key that signed is not one that the reader gave: one of these names it as its successor. */
  readonly isReplacement: boolean
  /** Whether a seal that the reader has from elsewhere says the same; cosigned, where the reader named witnesses. */
  readonly isWitnessed: boolean
  /** Of the witnesses that the reader named. */
  readonly cosignatures: readonly Cosignature[]
}

export interface ReaderKnows {
  /** Keys of the log, as text. Without any, the bundle is held to the keys that it names itself: that it is whole, but not whose it is. */
  readonly keys?: readonly string[]
  /** Lines of the log's file of seals that the reader has from elsewhere. */
  readonly seals?: Iterable<string>
  /** Keys of witnesses. */
  readonly witnesses?: readonly VerifierKey[]
}

/** Checks every line of a bundle. */
export function verifyBundle(
  lines: Iterable<string>,
  cryptography: Cryptography,
  { keys = [], seals = [], witnesses = [] }: ReaderKnows = {},
): BundleReport {
  const faults: BundleFault[] = []
  const parts = read(lines, faults)
  if (parts === 'newer_format') return reportOf('newer_format', [], undefined, undefined)
  const { header } = parts
  if (header === undefined) {
    const why = 'The bundle does not begin with its header.'
    return reportOf('not_whole', [...faults, { kind: 'removed', where: 'header', why }], parts, undefined)
  }
  const signed = signedHeader(header, cryptography, keys)
  if (signed !== undefined && 'unknown' in signed)
    return { ...reportOf('unknown_key', faults, parts, undefined), signedBy: signed.unknown }
  if (signed === undefined)
    faults.push({ kind: 'unsigned', where: 'checkpoint', why: "The log's key did not sign this checkpoint." })
  for (const [stream, events] of parts.streams) faults.push(...chainFaults(stream, events, cryptography))
  faults.push(...orderFaults(header, parts.streams))
  if (signed !== undefined) {
    faults.push(...manifestFaults(header, parts, signed, cryptography))
    faults.push(...proofFaults(parts, signed, cryptography))
  }
  const witnessing = signed && witnessOf(header, signed, seals, witnesses, cryptography)
  faults.push(...(witnessing?.faults ?? []))
  const verdict = faults.length === 0 ? 'whole' : 'not_whole'
  const { isWitnessed = false, cosignatures = [] } = witnessing ?? {}
  return { ...reportOf(verdict, faults, parts, signed), isWitnessed, cosignatures }
}

function read(lines: Iterable<string>, faults: BundleFault[]): Parts | 'newer_format' {
  let header: BundleHeader | undefined
  const streams = new Map<string, BundledEvent[]>()
  const proofs: Parts['proofs'][number][] = []
  const manifests: Parts['manifests'][number][] = []
  let number = 0
  for (const line of lines) {
    number += 1
    if (line === '') continue
    const record = recordIn(line, number)
    if (record === 'newer_format') return 'newer_format'
    if (record === undefined) {
      faults.push({ kind: 'unreadable', where: `line ${number}`, why: 'This line is no record of a bundle.' })
      continue
    }
    if (record.kind === 'event') {
      const { event, content } = record
      const events = streams.get(event.stream)
      if (events === undefined) streams.set(event.stream, [{ event, content }])
      else events.push({ event, content })
    } else if (record.kind === 'proof' || record.kind === 'end') proofs.push(record)
    else if (record.kind === 'manifest') manifests.push(record)
    else if (number === 1) header = record
    else
      faults.push({
        kind: 'added',
        where: `line ${number}`,
        why: 'A bundle has one header, in its first line.',
      })
  }
  return { header, streams, proofs, manifests }
}

function recordIn(line: string, number: number): BundleRecord | 'newer_format' | undefined {
  const json = unambiguousJson(line)
  if (number === 1 && isNewer(json)) return 'newer_format'
  return BundleRecord.safeParse(json).data
}

function isNewer(json: unknown): boolean {
  return (
    typeof json === 'object' &&
    json !== null &&
    'format' in json &&
    json.format === bundleFormat &&
    'version' in json &&
    typeof json.version === 'number' &&
    json.version > bundleVersion
  )
}

/** Whether the bundle has all that the signed manifest names, and nothing else. */
function manifestFaults(
  header: BundleHeader,
  { streams, manifests }: Parts,
  { keys: known, checkpoint }: Signed,
  cryptography: Cryptography,
): readonly BundleFault[] {
  const [record, ...more] = manifests
  const where = 'manifest'
  if (record === undefined)
    return [{ kind: 'removed', where, why: 'The bundle is cut short: it has no manifest.' }]
  if (more.length > 0) return [{ kind: 'added', where, why: 'A bundle has one manifest.' }]
  const message = signedBytes(cryptography, record.payloadType, record.payload)
  const isSigned = record.signatures.every(({ keyid, sig }) => {
    const key = known.get(keyid)
    const signature = fromBase64(sig)
    return (
      key !== undefined &&
      signature !== undefined &&
      cryptography.isSignedBy(key.publicKey, message, signature)
    )
  })
  if (!isSigned) return [{ kind: 'unsigned', where, why: "The log's key did not sign this manifest." }]
  const manifest = manifestIn(record.payload)
  if (manifest === undefined) return [{ kind: 'unreadable', where, why: 'This is no manifest of a bundle.' }]
  const { logId, epoch, taskId, keys, treeSize, heads } = manifest.predicate
  const faults: BundleFault[] = []
  const isOfHeader =
    logId === header.logId &&
    epoch === header.epoch &&
    taskId === header.taskId &&
    treeSize === checkpoint.size &&
    keys.join() === header.keys.join()
  if (!isOfHeader)
    faults.push({ kind: 'changed', where: 'header', why: 'The manifest belongs to another bundle.' })
  faults.push(...contentFaults(streams, manifest.predicate))
  for (const { name, digest } of manifest.subject)
    faults.push(...headFaults(name, heads[name] ?? -1, digest.sha256, streams.get(name) ?? []))
  const named = new Set(manifest.subject.map(({ name }) => name))
  for (const stream of streams.keys())
    if (!named.has(stream))
      faults.push({ kind: 'added', where: `${stream}@0`, why: 'The manifest does not name this stream.' })
  return faults
}

function manifestIn(payload: string): Manifest | undefined {
  try {
    return Manifest.safeParse(JSON.parse(payload)).data
  } catch {
    return undefined
  }
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

function reportOf(
  verdict: BundleReport['verdict'],
  faults: readonly BundleFault[],
  parts: Parts | undefined,
  signed: Signed | undefined,
): BundleReport {
  const contents = [...(parts?.streams.values() ?? [])].flat().map(({ content }) => content)
  const withheld: Partial<Record<ContentCategory, number>> = {}
  for (const content of contents)
    if (content.kind === 'withheld') withheld[content.category] = (withheld[content.category] ?? 0) + 1
  return {
    verdict,
    faults,
    taskId: parts?.header?.taskId ?? null,
    events: contents.length,
    disclosed: contents.filter(({ kind }) => kind === 'disclosed').length,
    erased: contents.filter(({ kind }) => kind === 'erased').length,
    unreadable: contents.filter(({ kind }) => kind === 'unreadable').length,
    withheld,
    signedBy: signed?.text ?? null,
    treeSize: signed?.checkpoint.size ?? null,
    isReplacement: signed?.isReplacement ?? false,
    isWitnessed: false,
    cosignatures: [],
  }
}
