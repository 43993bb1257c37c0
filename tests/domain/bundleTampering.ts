/** Random changes of an audit bundle, each with the records that it affects. */
import { BundleRecord, type Envelope } from '../../domain/proof/auditBundle.schema.ts'
import { envelopeHash } from '../../domain/proof/bundleHashes.ts'
import { verifyBundle } from '../../domain/proof/verifyBundle.ts'
import { cryptography } from '../../services/platform/seals/cryptography.ts'

type Draw = (bound: number) => number
interface Changed {
  readonly lines: readonly string[]
  /** The places of the change, as faults name them: a fault may name any of these. */
  readonly where: readonly string[]
}
type Change = (lines: readonly string[], pick: Draw) => Changed | undefined

const parsed = (line: string | undefined) => BundleRecord.safeParse(jsonOf(line ?? '')).data
const eventIn = (line: string | undefined) => {
  const record = parsed(line)
  return record?.kind === 'event' ? record : undefined
}
const placeOf = ({ stream, revision }: Pick<Envelope, 'stream' | 'revision'>) => `${stream}@${revision}`
const eventsAt = (lines: readonly string[]) =>
  lines.flatMap((line, index) => (line.startsWith('{"kind":"event"') ? [index] : []))
const pickEvent = (lines: readonly string[], pick: Draw) => {
  const at = eventsAt(lines)
  const index = at[pick(at.length)] ?? 0
  const record = eventIn(lines[index])
  return record && { index, record }
}

/** Changes a byte in the line of an event. */
const byte: Change = (lines, pick) => {
  const picked = pickEvent(lines, pick)
  if (!picked) return undefined
  const line = lines[picked.index] ?? ''
  const at = pick(line.length)
  const put = String.fromCodePoint(32 + pick(95))
  const changed = line.slice(0, at) + put + line.slice(at + 1)
  if (sameJson(changed, line)) return undefined
  const after = eventIn(changed)
  return {
    lines: lines.with(picked.index, changed),
    where: [
      placeOf(picked.record.event),
      ...(after ? [placeOf(after.event)] : []),
      `line ${picked.index + 1}`,
    ],
  }
}

const removal: Change = (lines, pick) => {
  const picked = pickEvent(lines, pick)
  return picked && { lines: lines.toSpliced(picked.index, 1), where: [placeOf(picked.record.event)] }
}

const repetition: Change = (lines, pick) => {
  const picked = pickEvent(lines, pick)
  if (!picked) return undefined
  const to = pick(lines.length - 1) + 1
  // After another line, the same record occurs twice, so its own neighbourhood counts as well.
  return { lines: lines.toSpliced(to, 0, lines[picked.index] ?? ''), where: [placeOf(picked.record.event)] }
}

const swap: Change = (lines, pick) => {
  const [one, other] = [pickEvent(lines, pick), pickEvent(lines, pick)]
  if (!one || !other || one.index === other.index) return undefined
  // The streams may be in any order; within a stream, the order matters.
  if (one.record.event.stream !== other.record.event.stream) return undefined
  const swapped = lines.with(one.index, lines[other.index] ?? '').with(other.index, lines[one.index] ?? '')
  return { lines: swapped, where: [placeOf(one.record.event), placeOf(other.record.event)] }
}

/** Adds an invented event, with correct hashes, at the end of a stream. */
const addition: Change = (lines, pick) => {
  const picked = pickEvent(lines, pick)
  if (!picked) return undefined
  const { stream } = picked.record.event
  const last = eventsAt(lines).findLast((index) => eventIn(lines[index])?.event.stream === stream) ?? 0
  const before = eventIn(lines[last])?.event
  if (!before) return undefined
  const linked = {
    ...before,
    id: '11111111-1111-4111-8111-111111111111',
    revision: before.revision + 1,
    data: { forged: true },
    meta: { ...before.meta, content: null, prev: before.meta.hash },
  }
  const event = { ...linked, meta: { ...linked.meta, hash: envelopeHash(cryptography, linked) } }
  const line = JSON.stringify({ kind: 'event', event, content: { kind: 'none' } })
  return { lines: lines.toSpliced(last + 1, 0, line), where: [placeOf(event)] }
}

const truncation: Change = (lines, pick) => {
  const length = pick(lines.length)
  const gone = lines.slice(length).flatMap((line) => eventIn(line)?.event ?? [])
  return { lines: lines.slice(0, length), where: ['manifest', 'header', ...gone.map(placeOf)] }
}

/** Changes a stream from one event on, with all hashes computed again. */
const rewrite: Change = (lines, pick) => {
  const picked = pickEvent(lines, pick)
  if (!picked) return undefined
  const { stream, revision } = picked.record.event
  let prev = picked.record.event.meta.prev
  const where: string[] = []
  const rewritten = lines.map((line) => {
    const record = eventIn(line)
    if (record?.event.stream !== stream || record.event.revision < revision) return line
    const isFirst = record.event.revision === revision
    const linked = {
      ...record.event,
      ...(isFirst ? { at: '2020-01-01T00:00:00.000Z' } : {}),
      meta: { ...record.event.meta, prev },
    }
    prev = envelopeHash(cryptography, linked)
    where.push(placeOf(linked))
    return JSON.stringify({ ...record, event: { ...linked, meta: { ...linked.meta, hash: prev } } })
  })
  return { lines: rewritten, where }
}

/** Declares a content that the bundle includes as erased, withheld, changed or without a key. */
const hiding: Change = (lines, pick) => {
  const picked = pickEvent(lines, pick)
  if (picked?.record.content.kind !== 'disclosed') return undefined
  const kinds = ['erased', 'missing_key', 'changed', 'withheld'] as const
  const kind = kinds[pick(kinds.length)] ?? 'erased'
  const content = kind === 'withheld' ? { kind, category: 'details' } : { kind }
  const line = JSON.stringify({ ...picked.record, content })
  return { lines: lines.with(picked.index, line), where: [placeOf(picked.record.event)] }
}

const sealsIn = (record: BundleRecord) => (record.kind === 'seal' ? [`seal ${record.size}`] : [])

/** Changes a part of a proof, a checkpoint or the manifest. */
const proof: Change = (lines, pick) => {
  const index = pick(lines.length)
  const record = parsed(lines[index])
  if (record === undefined || record.kind === 'event') return undefined
  const line = lines[index] ?? ''
  const at = pick(line.length)
  const letter = line[at] ?? ''
  if (!/[A-Za-z0-9]/.test(letter)) return undefined
  const changed = line.slice(0, at) + (letter === 'A' ? 'B' : 'A') + line.slice(at + 1)
  const after = parsed(changed)
  const where = [record, after].flatMap((each) => (each && 'stream' in each ? [placeOf(each)] : []))
  return {
    lines: lines.with(index, changed),
    where: [...where, 'header', 'checkpoint', 'heads', 'manifest', `line ${index + 1}`, ...sealsIn(record)],
  }
}

/** Removes a record other than an event, repeats it, or moves it behind the manifest. */
const line: Change = (lines, pick) => {
  const index = pick(lines.length)
  if (eventIn(lines[index])) return undefined
  const kept = lines[index] ?? ''
  const changed = [
    lines.toSpliced(index, 1),
    lines.toSpliced(index, 0, kept),
    [...lines.toSpliced(index, 1), kept],
  ][pick(3)]
  if (changed === undefined || changed.join('\n') === lines.join('\n')) return undefined
  return { lines: changed, where: anywhere }
}

/** Changes the end of a line, or empties it. */
const ending: Change = (lines, pick) => {
  const index = pick(lines.length)
  const kept = lines[index] ?? ''
  const changed = [
    lines.with(index, `${kept}\r`),
    lines.toSpliced(index, 0, ''),
    [...lines, '', ''],
    lines.with(0, `\ufeff${lines[0] ?? ''}`),
  ][pick(4)]
  return changed && { lines: changed, where: anywhere }
}

/** Any place: these changes are found by what is missing or superfluous afterwards. */
const anywhere = ['*']

export const bundleChanges: Readonly<Record<string, Change>> = {
  line,
  ending,
  byte,
  removal,
  repetition,
  swap,
  addition,
  truncation,
  rewrite,
  hiding,
  proof,
}

/** Makes this many random changes, taking the kinds in turn. Counts, by kind, those that were found at the right record, and lists the others. */
export function tryBundleChanges(
  whole: readonly string[],
  { times, pick, keys }: { times: number; pick: Draw; keys: readonly string[] },
): {
  readonly tried: number
  readonly found: Readonly<Record<string, number>>
  readonly missed: readonly string[]
} {
  const kinds = Object.entries(bundleChanges)
  const found: Record<string, number> = {}
  const missed: string[] = []
  let tried = 0
  for (let turn = 0; tried < times; turn += 1) {
    const [kind = '', change] = kinds[turn % kinds.length] ?? []
    const changed = change?.(whole, pick)
    if (!changed) continue
    tried += 1
    const { verdict, faults } = verifyBundle(changed.lines, cryptography, { keys })
    const isNamed = faults.some(({ where }) => changed.where.includes(where) || changed.where.includes('*'))
    const isOther = ['unknown_key', 'newer_format', 'older_format'].includes(verdict)
    if (isNamed || (kind === 'proof' && isOther)) found[kind] = (found[kind] ?? 0) + 1
    else
      missed.push(
        `${kind}: ${verdict} ${changed.where.slice(0, 3).join()} ${faults.map(({ where }) => where).join()}`,
      )
  }
  return { tried, found, missed }
}

/** Changes a member of any record, at any depth: another value, no value, or two of them. */
export function changedMember(
  lines: readonly string[],
  pick: Draw,
): { readonly lines: readonly string[]; readonly kind: string } | undefined {
  // Each kind of record is picked equally often, however many events there are.
  const kinds = [...new Set(lines.map((line) => parsed(line)?.kind))]
  const wanted = kinds[pick(kinds.length)]
  const some = lines.flatMap((line, at) => (line.startsWith(`{"kind":"${wanted}"`) ? [at] : []))
  const index = some[pick(some.length)] ?? 0
  const record: unknown = jsonOf(lines[index] ?? '')
  const places = placesIn(record, [])
  const place = places[pick(places.length)]
  if (place === undefined) return undefined
  const op = (['other', 'without', 'twice'] as const)[pick(3)] ?? 'other'
  const changed = structuredClone(record)
  const parent = place.slice(0, -1).reduce<unknown>((at, name) => memberOf(at, name), changed)
  const name = place.at(-1)
  if (typeof parent !== 'object' || parent === null || name === undefined) return undefined
  const before: unknown = memberOf(parent, name)
  if (op === 'other') Reflect.set(parent, name, otherThan(before, pick))
  else if (op === 'without' && Array.isArray(parent)) parent.splice(Number(name), 1)
  else if (op === 'without') Reflect.deleteProperty(parent, name)
  else if (Array.isArray(parent)) parent.splice(Number(name), 0, before)
  else Reflect.set(parent, `${name}2`, before)
  const kind = `${String(memberOf(record, 'kind'))} ${place.map((each) => (/^\d+$/.test(each) ? '[]' : each)).join('.')} ${op}`
  return { lines: lines.with(index, JSON.stringify(changed)), kind }
}

function placesIn(value: unknown, at: readonly string[]): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  const inner = Object.entries(value).flatMap(([name, member]) => placesIn(member, [...at, name]))
  return at.length === 0 ? inner : [at, ...inner]
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

function otherThan(value: unknown, pick: Draw): unknown {
  switch (typeof value) {
    case 'number':
      return value + 1
    case 'boolean':
      return !value
    case 'string': {
      const at = pick(value.length)
      return `${value.slice(0, at)}${value[at] === 'A' ? 'B' : 'A'}${value.slice(at + 1)}`
    }
    default:
      return value === null ? 'A' : null
  }
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function sameJson(one: string, other: string): boolean {
  const [a, b] = [jsonOf(one), jsonOf(other)]
  return a !== undefined && JSON.stringify(a) === JSON.stringify(b)
}
