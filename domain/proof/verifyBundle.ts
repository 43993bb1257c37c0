/** Checks an audit bundle, and names each record that was changed, removed, added or moved. */
import { fromBase64 } from '../kernel/base64.ts'
import {
  BundleRecord,
  Manifest,
  type BundledContent,
  type BundleHeader,
  type Envelope,
} from './auditBundle.schema.ts'
import { bundleFormat, bundleVersion, type ContentCategory } from './auditBundle.ts'
import { envelopeHash, hexOf, leafOf, originOf, signedBytes, type Cryptography } from './bundleHashes.ts'
import {
  parseCheckpoint,
  parseInclusionProof,
  parseNote,
  parseVerifierKey,
  signaturesBy,
  type Checkpoint,
  type VerifierKey,
} from './checkpoint.ts'
import { leafHash, verifyInclusion } from './merkleTree.ts'

export interface BundleFault {
  /**
   * `changed`: not what was recorded. `removed`, `added`: missing, or never recorded. `moved`: in another place. `unproven`: nothing shows
   * that it was in the log. `unsigned`: the log's key did not sign it. `unreadable`: a line that is no record of a bundle.
   */
  readonly kind: 'changed' | 'removed' | 'added' | 'moved' | 'unproven' | 'unsigned' | 'unreadable'
  /** `stream@revision` of an event, or the part of the bundle. */
  readonly where: string
  readonly why: string
}

export interface BundleReport {
  readonly verdict: 'whole' | 'not_whole' | 'unknown_key' | 'newer_format'
  readonly faults: readonly BundleFault[]
  readonly taskId: string | null
  readonly events: number
  readonly disclosed: number
  readonly erased: number
  readonly withheld: Readonly<Partial<Record<ContentCategory, number>>>
  /** The key that signed, as text; `null` when none did. */
  readonly signedBy: string | null
  /** How many events the log had when it was signed. */
  readonly treeSize: number | null
}

interface BundledEvent {
  readonly event: Envelope
  readonly content: BundledContent
}

/** The records of a bundle, sorted. */
interface Parts {
  readonly header: BundleHeader | undefined
  readonly streams: ReadonlyMap<string, readonly BundledEvent[]>
  readonly proofs: readonly Extract<BundleRecord, { kind: 'proof' }>[]
  readonly manifests: readonly Extract<BundleRecord, { kind: 'manifest' }>[]
}

/** What the log's key vouches for. */
interface Signed {
  readonly key: VerifierKey
  readonly text: string
  readonly checkpoint: Checkpoint
}

/**
 * Checks every line of a bundle. `trusted` are the keys that the reader knows to be the log's, as text; without any, the bundle is held to
 * the keys that it names itself, which shows that it is whole but not whose it is.
 */
export function verifyBundle(
  lines: Iterable<string>,
  cryptography: Cryptography,
  trusted: readonly string[] = [],
): BundleReport {
  const faults: BundleFault[] = []
  const parts = read(lines, faults)
  if (parts === 'newer_format') return reportOf('newer_format', [], undefined, undefined)
  const { header } = parts
  if (header === undefined) {
    const why = 'The bundle does not begin with its header.'
    return reportOf('not_whole', [...faults, { kind: 'removed', where: 'header', why }], parts, undefined)
  }
  const signed = signedCheckpoint(header, cryptography, trusted)
  if (signed === 'unknown_key') return reportOf('unknown_key', faults, parts, undefined)
  if (signed === undefined)
    faults.push({ kind: 'unsigned', where: 'checkpoint', why: "The log's key did not sign this checkpoint." })
  for (const [stream, events] of parts.streams) faults.push(...chainFaults(stream, events, cryptography))
  faults.push(...orderFaults(header, parts.streams))
  if (signed !== undefined) {
    faults.push(...manifestFaults(header, parts, signed, cryptography))
    faults.push(...proofFaults(parts, signed, cryptography))
  }
  return reportOf(faults.length === 0 ? 'whole' : 'not_whole', faults, parts, signed)
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
    const record = recordIn(line)
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
    } else if (record.kind === 'proof') proofs.push(record)
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

function recordIn(line: string): BundleRecord | 'newer_format' | undefined {
  let json: unknown
  try {
    json = JSON.parse(line)
  } catch {
    return undefined
  }
  if (isNewer(json)) return 'newer_format'
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

/** The checkpoint that the header carries, if a key of the log signed it. */
function signedCheckpoint(
  header: BundleHeader,
  cryptography: Cryptography,
  trusted: readonly string[],
): Signed | 'unknown_key' | undefined {
  const note = parseNote(header.checkpoint)
  const checkpoint = note && parseCheckpoint(note.text)
  if (note === undefined || checkpoint?.origin !== originOf(header)) return undefined
  const known = trusted.length === 0 ? header.keys : header.keys.filter((key) => trusted.includes(key))
  if (known.length === 0) return 'unknown_key'
  for (const text of known) {
    const key = parseVerifierKey(cryptography.sha256, text)
    if (key === undefined) continue
    const signatures = signaturesBy(note, key)
    const message = cryptography.utf8(note.text)
    if (
      signatures.length > 0 &&
      signatures.every(({ signature }) => cryptography.isSignedBy(key.publicKey, message, signature))
    )
      return { key, text, checkpoint }
  }
  return undefined
}

/** What is wrong with the events of a stream by themselves. */
function chainFaults(
  stream: string,
  events: readonly BundledEvent[],
  cryptography: Cryptography,
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  const present = new Set(events.map(({ event }) => event.revision))
  let next = 0
  let before: Envelope | undefined
  for (const { event, content } of events) {
    const { revision, meta } = event
    const where = `${stream}@${revision}`
    if (envelopeHash(cryptography, event) !== meta.hash)
      faults.push({ kind: 'changed', where, why: 'The event does not have the hash that was recorded.' })
    const why = contentFault(event, content, cryptography)
    if (why !== undefined) faults.push({ kind: 'changed', where, why })
    if (revision > next) {
      const kind = present.has(next) ? 'moved' : 'removed'
      faults.push({ kind, where: `${stream}@${next}`, why: `Event ${revision} stands in its place.` })
    } else if (revision < next) {
      faults.push({ kind: 'added', where, why: 'There is another event of this revision before it.' })
    } else if (meta.prev !== (before?.meta.hash ?? '')) {
      const at = before === undefined ? where : `${stream}@${before.revision}`
      faults.push({ kind: 'changed', where: at, why: 'The event after it follows another one.' })
    }
    if (revision >= next) {
      next = revision + 1
      before = event
    }
  }
  return faults
}

function contentFault(
  event: Envelope,
  content: BundledContent,
  { sha256, utf8 }: Cryptography,
): string | undefined {
  const recorded = event.meta.content
  if (content.kind === 'none')
    return recorded === null ? undefined : 'It had content, which is not accounted for.'
  if (recorded === null) return 'It had no content.'
  if (content.kind !== 'disclosed') return undefined
  return hexOf(sha256(utf8(content.text))) === recorded.commitment
    ? undefined
    : 'Its content is not what was recorded.'
}

/** How the two streams of the task bear each other out. */
function orderFaults(
  { taskId }: BundleHeader,
  streams: ReadonlyMap<string, readonly BundledEvent[]>,
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  const task = streams.get(`task-${taskId}`) ?? []
  const terminal = streams.get(`terminal-${taskId}`) ?? []
  let latest = 0
  for (const { event } of terminal) {
    const { follows } = event.meta
    const where = `${event.stream}@${event.revision}`
    if (follows === null || follows < latest || follows >= task.length)
      faults.push({ kind: 'moved', where, why: 'It does not follow the event of the task that it names.' })
    latest = Math.max(latest, follows ?? 0)
  }
  for (const { event } of task) {
    const anchor = terminalAnchor(event.data)
    if (anchor === undefined) continue
    const named = terminal.find(({ event }) => event.revision === anchor.revision)
    if (named?.event.meta.hash === anchor.hash) continue
    const why = `It is not the event that ${event.stream}@${event.revision} names.`
    faults.push({
      kind: named === undefined ? 'removed' : 'changed',
      where: `terminal-${taskId}@${anchor.revision}`,
      why,
    })
  }
  return faults
}

function terminalAnchor(data: unknown): { revision: number; hash: string } | undefined {
  if (typeof data !== 'object' || data === null || !('terminal' in data)) return undefined
  const { terminal } = data
  if (typeof terminal !== 'object' || terminal === null) return undefined
  if (!('revision' in terminal) || !('hash' in terminal)) return undefined
  const { revision, hash } = terminal
  return typeof revision === 'number' && typeof hash === 'string' ? { revision, hash } : undefined
}

/** Whether the bundle has all that the signed manifest names, and nothing else. */
function manifestFaults(
  header: BundleHeader,
  { streams, manifests }: Parts,
  { key, text, checkpoint }: Signed,
  cryptography: Cryptography,
): readonly BundleFault[] {
  const [record, ...more] = manifests
  const where = 'manifest'
  if (record === undefined)
    return [{ kind: 'removed', where, why: 'The bundle is cut short: it has no manifest.' }]
  if (more.length > 0) return [{ kind: 'added', where, why: 'A bundle has one manifest.' }]
  const message = signedBytes(cryptography, record.payloadType, record.payload)
  const isSigned = record.signatures.every(({ keyid, sig }) => {
    if (keyid !== text) return false
    const signature = fromBase64(sig)
    return signature !== undefined && cryptography.isSignedBy(key.publicKey, message, signature)
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

/** Whether the tree that was signed has the events that the proofs are for, and each stream's last one among them. */
function proofFaults(
  { header, streams, proofs }: Parts,
  { checkpoint }: Signed,
  cryptography: Cryptography,
): readonly BundleFault[] {
  const faults: BundleFault[] = []
  const proven = new Map<string, number>()
  for (const { stream, revision, proof: text } of proofs) {
    const where = `${stream}@${revision}`
    const event = streams.get(stream)?.find(({ event }) => event.revision === revision)?.event
    const parsed = parseInclusionProof(text)
    const leaf = event && leafHash(cryptography.sha256, leafOf(event.meta.hash))
    const { size, root } = checkpoint
    const isProven =
      leaf !== undefined &&
      parsed !== undefined &&
      parsed.note === header?.checkpoint &&
      verifyInclusion(cryptography.sha256, { leaf, index: parsed.index, size, proof: parsed.proof, root })
    if (isProven) proven.set(stream, Math.max(proven.get(stream) ?? -1, revision))
    else faults.push({ kind: 'unproven', where, why: 'Its proof does not lead to the signed tree.' })
  }
  for (const [stream, events] of streams) {
    const last = events.reduce((highest, { event }) => Math.max(highest, event.revision), -1)
    if ((proven.get(stream) ?? -1) < last && !faults.some(({ where }) => where === `${stream}@${last}`))
      faults.push({
        kind: 'unproven',
        where: `${stream}@${last}`,
        why: 'There is no proof that it was in the log.',
      })
  }
  return faults
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
    withheld,
    signedBy: signed?.text ?? null,
    treeSize: signed?.checkpoint.size ?? null,
  }
}
