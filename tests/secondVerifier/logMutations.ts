/** Changes of a stored log and of its file of seals on the disk. */
import type { StoredEvent } from '#domain/kernel/event.ts'
import { LogBegun } from '#domain/log.ts'
import { LogSealed } from '#domain/seal.ts'
import { outsideSeal } from '#platform/seals/recordedSeals.ts'
import { allTamperings } from '../server/sealedLog.ts'
import { hashedAnew, type Tampering } from '../server/tampering.ts'

type Draw = (bound: number) => number

/** A row of the table of events, with its JSON as text. */
export interface StoredRow {
  readonly position: number
  readonly id: string
  readonly stream: string
  readonly revision: number
  readonly type: string
  readonly version: number
  readonly at: string
  readonly data: string
  readonly content: string | null
  readonly meta: string
}

export interface LogOnDisk {
  readonly events: readonly StoredEvent[]
  readonly rows: readonly StoredRow[]
  /** The text of the file of seals. */
  readonly seals: string
}

export type ChangedLog = Pick<LogOnDisk, 'rows' | 'seals'>

export interface LogMutation {
  readonly kind: string
  /** Whether the change does not matter, so that the log is still whole. */
  readonly isBenign?: boolean
  /** Applies the change; `undefined` when it cannot be made to what was picked. */
  readonly apply: (log: LogOnDisk, pick: Draw) => ChangedLog | undefined
}

export const rowsOf = (events: readonly StoredEvent[]): readonly StoredRow[] =>
  events.map(({ id, stream, revision, type, version, at, data, content, meta }, index) => ({
    position: index + 1,
    id,
    stream,
    revision,
    type,
    version,
    at,
    data: JSON.stringify(data),
    content,
    meta: JSON.stringify(meta),
  }))

/** Kinds that cannot be stored: a member outside of the format has no column. */
const unstorable = ['an envelope field added']

const ofEvents = ({ kind, apply }: Tampering): LogMutation => ({
  kind,
  apply: ({ events, seals }, pick) => {
    const changed = apply(events, pick)
    return changed && { rows: rowsOf(changed), seals }
  },
})

/** An event with a change, and all hashes of its stream computed again: only the rules or a seal can find the change. */
const hashedAfter = (
  kind: string,
  isMeant: (event: StoredEvent) => boolean,
  change: (event: StoredEvent, pick: Draw) => StoredEvent | undefined,
): LogMutation => ({
  kind: `hashed anew: ${kind}`,
  apply: ({ events, seals }, pick) => {
    const meant = events.filter(isMeant)
    const event = meant[pick(meant.length)]
    const changed = event && change(event, pick)
    return changed && { rows: rowsOf(hashedAnew(events, changed)), seals }
  },
})
const inData = (event: StoredEvent, name: string): unknown => Reflect.get(Object(event.data), name)
const withData = (event: StoredEvent, data: object) => ({
  ...event,
  data: { ...Object(event.data), ...data },
})
const withMeta = (event: StoredEvent, meta: Partial<StoredEvent['meta']>) => ({
  ...event,
  meta: { ...event.meta, ...meta },
})
const someId = '11111111-1111-4111-8111-111111111111'

/** Another value of the same type: a text with one letter changed, a number one higher, or an object with a changed member. */
function otherValue(value: unknown, pick: Draw): unknown {
  if (typeof value === 'number') return value + 1 - 2 * pick(2)
  if (typeof value === 'string') {
    const at = pick(value.length)
    return `${value.slice(0, at)}${value[at] === 'a' ? 'b' : 'a'}${value.slice(at + 1)}`
  }
  const names = Object.keys(Object(value))
  const name = names[pick(names.length)]
  return name === undefined
    ? 7
    : { ...Object(value), [name]: otherValue(Reflect.get(Object(value), name), pick) }
}
const otherMember = (event: StoredEvent, pick: Draw) => {
  const names = Object.keys(Object(event.data))
  const name = names[pick(names.length)] ?? ''
  return withData(event, { [name]: otherValue(inData(event, name), pick) })
}

const hashedMutations: readonly LogMutation[] = [
  hashedAfter(
    'the time',
    () => true,
    (event) => ({ ...event, at: '2020-01-01T00:00:00.000Z' }),
  ),
  hashedAfter(
    'a time that is none',
    () => true,
    (event) => ({ ...event, at: 'yesterday' }),
  ),
  hashedAfter(
    'an id that is none',
    () => true,
    (event) => ({ ...event, id: 'x' }),
  ),
  hashedAfter(
    'the command',
    () => true,
    (event) => withMeta(event, { commandId: someId }),
  ),
  hashedAfter(
    'no cause',
    () => true,
    (event) => withMeta(event, { causationId: null }),
  ),
  hashedAfter(
    'the digests of the content',
    () => true,
    (event) =>
      withMeta(event, {
        content: event.meta.content ? null : { sealed: '0'.repeat(64), commitment: '0'.repeat(64) },
      }),
  ),
  hashedAfter(
    'what it follows',
    () => true,
    (event, pick) =>
      withMeta(event, { follows: pick(4) === 0 ? null : (event.meta.follows ?? 0) + 2 - pick(4) }),
  ),
  hashedAfter(
    'the end of a terminal',
    (event) => typeof inData(event, 'terminal') === 'object' && inData(event, 'terminal') !== null,
    (event, pick) => withData(event, { terminal: otherValue(inData(event, 'terminal'), pick) }),
  ),
  hashedAfter(
    'its owner',
    ({ type }) => type === 'TaskCreated' || type === 'ProjectCreated',
    (event) => withData(event, { ownerId: someId }),
  ),
  hashedAfter(
    'its project',
    ({ type }) => type === 'TaskCreated',
    (event) => withData(event, { projectId: someId }),
  ),
  hashedAfter('a seal', ({ type }) => type === 'LogSealed', otherMember),
  hashedAfter('a restore', ({ type }) => type === 'LogRestored', otherMember),
  {
    kind: 'hashed anew: the heads of the newest seal, in the file too',
    apply: ({ events, seals }, pick) => {
      const [newest, begun] = [events.findLast(({ type }) => type === 'LogSealed'), events[0]]
      if (!newest || !begun || seals === '') return undefined
      const name = pick(2) === 0 ? 'root' : 'signature'
      const heads: object = Object(inData(newest, 'heads'))
      const digits = String(Reflect.get(heads, name))
      const at = pick(digits.length)
      const other = `${digits.slice(0, at)}${digits[at] === '0' ? '1' : '0'}${digits.slice(at + 1)}`
      const changed = withData(newest, { heads: { ...heads, [name]: other } })
      const seal = LogSealed.data.parse(changed.data)
      const { revision, at: time } = newest
      const line = outsideSeal(LogBegun.data.parse(begun.data).logId, { revision, at: time, seal, hash: '' })
      const lines = [...seals.trimEnd().split('\n').slice(0, -1), JSON.stringify(line)]
      return { rows: rowsOf(hashedAnew(events, changed)), seals: `${lines.join('\n')}\n` }
    },
  },
]

type RowChange = (row: StoredRow, pick: Draw) => StoredRow | undefined

const ofRow = (kind: string, change: RowChange, isBenign = false): LogMutation => ({
  kind,
  isBenign,
  apply: ({ rows, seals }, pick) => {
    const at = pick(rows.length)
    const row = rows[at]
    const changed = row && change(row, pick)
    return changed && { rows: rows.with(at, changed), seals }
  },
})

/** The text with one character changed. */
function otherText(text: string, pick: Draw): string {
  const at = pick(text.length)
  const put = String.fromCodePoint(32 + pick(95))
  return text.slice(0, at) + (put === text[at] ? '~' : put) + text.slice(at + 1)
}

const spaced = (json: string) => JSON.stringify(JSON.parse(json), null, 1)
const reversed = (json: string) =>
  JSON.stringify(Object.fromEntries(Object.entries(Object(JSON.parse(json))).toReversed()))
const escaped = (json: string) =>
  json.replace(/":"([a-z])/, (_all, letter: string) => `":"\\u00${letter.charCodeAt(0).toString(16)}`)

const rowMutations: readonly LogMutation[] = [
  ofRow('a character of the facts', (row, pick) => ({ ...row, data: otherText(row.data, pick) })),
  ofRow('a character of the metadata', (row, pick) => ({ ...row, meta: otherText(row.meta, pick) })),
  ofRow('a character of the content', (row, pick) =>
    row.content === null ? undefined : { ...row, content: otherText(row.content, pick) },
  ),
  ofRow('a character of the id, the type or the time', (row, pick) => {
    const column = (['id', 'type', 'at'] as const)[pick(3)] ?? 'id'
    return { ...row, [column]: otherText(row[column], pick) }
  }),
  ofRow('a name twice', (row, pick) => {
    const column = (['data', 'meta'] as const)[pick(2)] ?? 'data'
    const [name] = Object.keys(Object(JSON.parse(row[column])))
    return name === undefined ? undefined : { ...row, [column]: `{"${name}":1,${row[column].slice(1)}` }
  }),
  ofRow('facts that are no JSON', (row) => ({ ...row, data: row.data.slice(0, -1) })),
  ofRow('spaces in the JSON', (row) => ({ ...row, data: spaced(row.data), meta: spaced(row.meta) }), true),
  ofRow(
    'members in another order',
    (row) => ({ ...row, data: reversed(row.data), meta: reversed(row.meta) }),
    true,
  ),
  ofRow('an escape in the JSON', (row) => ({ ...row, meta: escaped(row.meta) }), true),
  {
    kind: 'gaps between positions',
    isBenign: true,
    apply: ({ rows, seals }, pick) => {
      const from = pick(rows.length)
      const by = 1 + pick(1_000)
      const moved = rows.map((row, index) => ({ ...row, position: row.position + (index >= from ? by : 0) }))
      return { rows: moved, seals }
    },
  },
  {
    kind: 'two positions swapped',
    apply: ({ rows, seals }, pick) => {
      const at = pick(rows.length - 1)
      const [one, other] = [rows[at], rows[at + 1]]
      if (!one || !other) return undefined
      const swapped = rows
        .with(at, { ...other, position: one.position })
        .with(at + 1, { ...one, position: other.position })
      return { rows: swapped, seals }
    },
  },
  {
    kind: 'the end cut',
    apply: ({ rows, seals }, pick) => ({ rows: rows.slice(0, 1 + pick(rows.length - 1)), seals }),
  },
]

type LinesChange = (lines: readonly string[], pick: Draw) => readonly string[] | undefined
const ofSeals = (kind: string, change: LinesChange, isBenign = false): LogMutation => ({
  kind: `file of seals: ${kind}`,
  isBenign,
  apply: ({ rows, seals }, pick) => {
    const changed = seals === '' ? undefined : change(seals.trimEnd().split('\n'), pick)
    return changed && { rows, seals: changed.map((line) => `${line}\n`).join('') }
  },
})

const sealMutations: readonly LogMutation[] = [
  ofSeals('a character', (lines, pick) => {
    const at = pick(lines.length)
    return lines.with(at, otherText(lines[at] ?? '', pick))
  }),
  ofSeals('a line removed that is not the newest', (lines, pick) =>
    lines.toSpliced(pick(lines.length - 1), 1),
  ),
  ofSeals('two lines swapped', (lines, pick) => {
    const at = pick(lines.length - 1)
    return lines.with(at, lines[at + 1] ?? '').with(at + 1, lines[at] ?? '')
  }),
  ofSeals('a line of another log', (lines, pick) => {
    const at = pick(lines.length)
    const id = /log\/([0-9a-f-]{36})/.exec(lines[at] ?? '')?.[1] ?? ''
    return lines.toSpliced(at, 0, (lines[at] ?? '').replaceAll(id, '11111111-1111-4111-8111-111111111111'))
  }),
  ofSeals('a line that is no seal', (lines, pick) => lines.toSpliced(pick(lines.length + 1), 0, '{}')),
  ofSeals('a space in a line', (lines, pick) => {
    const at = pick(lines.length)
    return lines.with(at, (lines[at] ?? '').replace('{', '{ '))
  }),
  ofSeals('members of a line in another order', (lines, pick) => {
    const at = pick(lines.length)
    return lines.with(at, reversed(lines[at] ?? ''))
  }),
  ofSeals('the newest lacks', (lines) => lines.slice(0, -1), true),
  ofSeals(
    'a line stands twice',
    (lines, pick) => {
      const at = pick(lines.length)
      return lines.toSpliced(at, 0, lines[at] ?? '')
    },
    true,
  ),
  ofSeals(
    'a line broke off, and was written again',
    (lines, pick) => {
      const at = pick(lines.length)
      return lines.toSpliced(at, 0, (lines[at] ?? '').slice(0, 1 + pick((lines[at] ?? '').length - 1)))
    },
    true,
  ),
  ofSeals('an empty line', (lines, pick) => lines.toSpliced(pick(lines.length + 1), 0, ''), true),
  ofSeals(
    'a cosigned repetition, after later seals',
    (lines, pick) => {
      const seal: unknown = JSON.parse(lines[pick(lines.length)] ?? '')
      const signature = Buffer.alloc(76, 1 + pick(200)).toString('base64')
      const checkpoint = `${String(Object(seal).checkpoint)}\u2014 witness.example ${signature}\n`
      return [...lines, JSON.stringify({ ...Object(seal), checkpoint })]
    },
    true,
  ),
]

/** Changes that do not matter are frequent enough to find out a verifier that rejects everything. */
const each: readonly LogMutation[] = [
  ...allTamperings.filter(({ kind }) => !unstorable.includes(kind)).map(ofEvents),
  ...hashedMutations,
  ...rowMutations,
  ...sealMutations,
]
const benign = each.filter(({ isBenign }) => isBenign === true)
export const logMutations: readonly LogMutation[] = [...each, ...benign]
export const benignLogKinds = benign.map(({ kind }) => kind)
