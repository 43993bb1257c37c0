/** Reads the lines of an audit bundle. */
import { unambiguousJson } from '../kernel/unambiguousJson.ts'
import { BundleRecord, type BundleHeader } from './auditBundle.schema.ts'
import { bundleFormat, bundleVersion } from './auditBundle.ts'
import type { BundledEvent, BundleFault, Parts } from './bundleParts.ts'

/** The bundle is in another version of the format. */
export type OtherFormat = 'newer_format' | 'older_format'

/** A parsed bundle, and the faults in its lines. */
export interface ReadBundle {
  readonly parts: Parts
  readonly faults: readonly BundleFault[]
}

/** Parses the lines of a bundle, given without newlines. An empty last line is allowed. */
export function readBundle(lines: Iterable<string>): ReadBundle | OtherFormat {
  const reading = newReading()
  let emptyLine = 0
  let number = 0
  for (const line of lines) {
    number += 1
    if (emptyLine > 0) refuse(reading, 'unreadable', emptyLine, 'This line is empty.')
    emptyLine = line === '' ? number : 0
    if (line === '') continue
    const json = line.endsWith('\r') ? undefined : unambiguousJson(line)
    const other = number === 1 ? otherFormat(json) : undefined
    if (other !== undefined) return other
    if (number === 1) reading.headerLine = line
    take(reading, BundleRecord.safeParse(json).data, number)
  }
  const { header, headerLine, streams, proofs, seals, manifests, faults } = reading
  return { parts: { header, headerLine, streams, proofs, seals, manifests }, faults }
}

/** Parses the header in a bundle's first line; `undefined` when the line is not a header. No signature is checked. */
export function headerIn(firstLine: string): BundleHeader | undefined {
  const record = BundleRecord.safeParse(unambiguousJson(firstLine)).data
  return record?.kind === 'header' ? record : undefined
}

interface Reading {
  header: BundleHeader | undefined
  headerLine: string
  readonly streams: Map<string, BundledEvent[]>
  readonly proofs: Parts['proofs'][number][]
  readonly seals: Parts['seals'][number][]
  readonly manifests: Parts['manifests'][number][]
  readonly faults: BundleFault[]
}

function newReading(): Reading {
  return {
    header: undefined,
    headerLine: '',
    streams: new Map(),
    proofs: [],
    seals: [],
    manifests: [],
    faults: [],
  }
}

function refuse(reading: Reading, kind: BundleFault['kind'], line: number, why: string): void {
  reading.faults.push({ kind, where: `line ${line}`, why })
}

function take(reading: Reading, record: BundleRecord | undefined, line: number): void {
  if (record === undefined) return refuse(reading, 'unreadable', line, 'This line is no record of a bundle.')
  if (reading.manifests.length > 0)
    refuse(reading, 'added', line, 'The manifest is the last line of a bundle.')
  switch (record.kind) {
    case 'header':
      if (line === 1) reading.header = record
      else refuse(reading, 'added', line, 'A bundle has one header, in its first line.')
      return
    case 'event': {
      const { event, content } = record
      const events = reading.streams.get(event.stream)
      if (events === undefined) reading.streams.set(event.stream, [{ event, content }])
      else events.push({ event, content })
      return
    }
    case 'proof':
    case 'end':
      reading.proofs.push(record)
      return
    case 'seal':
      reading.seals.push(record)
      return
    case 'manifest':
      reading.manifests.push(record)
  }
}

function otherFormat(json: unknown): OtherFormat | undefined {
  if (typeof json !== 'object' || json === null || !('format' in json) || !('version' in json))
    return undefined
  const { format, version } = json
  if (format !== bundleFormat || typeof version !== 'number' || version === bundleVersion) return undefined
  return version > bundleVersion ? 'newer_format' : 'older_format'
}
