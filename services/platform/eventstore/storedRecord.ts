/** Converts a stored record to an event, or to a damaged record. No other code trusts a stored row. */
import { z } from 'zod'
import { EventMeta } from '#domain/kernel/event.schema.ts'
import type { DamageReason, Position } from '#domain/kernel/event.ts'
import { hasRepeatedName } from '#domain/kernel/unambiguousJson.ts'
import { jsonOf } from '../json.ts'
import {
  isDamaged,
  type DamagedRecord,
  type LogRecord,
  type EventToAppend,
  type ExpectedRevision,
} from '../ports/eventStore.ts'

/** The maximum total size of an event's facts, content and metadata, in bytes. */
export const largestRecordBytes = 16 * 1_048_576

/** An event's members as an engine returns them, unchecked. */
interface Unchecked {
  readonly id: unknown
  readonly stream: string
  /** The revision; negative when the stored value is not a revision. */
  readonly revision: number
  readonly position: Position
  readonly type: string
  readonly version: unknown
  readonly at: unknown
  readonly data: unknown
  readonly content: unknown
  readonly meta: unknown
}

interface Envelope extends Unchecked {
  readonly id: string
  readonly version: number
  readonly at: string
  readonly content: string | null
}

const moment = z.core.regexes.datetime({})

/** Checked by hand, since every event that is read is checked, and a schema takes several times as long. */
function isEnvelope(record: Unchecked): record is Envelope {
  const { id, stream, revision, type, version, at, content } = record
  return (
    typeof id === 'string' &&
    id !== '' &&
    stream !== '' &&
    Number.isSafeInteger(revision) &&
    revision >= 0 &&
    type !== '' &&
    typeof version === 'number' &&
    Number.isSafeInteger(version) &&
    version > 0 &&
    typeof at === 'string' &&
    moment.test(at) &&
    (content === null || typeof content === 'string')
  )
}

/** The event of a record with parsed facts and metadata, or the damaged record. `known` is the metadata if it was checked before. */
export function recordOf(unchecked: Unchecked, known?: EventMeta): LogRecord {
  const { position, data } = unchecked
  const meta = known ?? EventMeta.safeParse(unchecked.meta).data
  const hasFacts = typeof data === 'object' && data !== null && !Array.isArray(data)
  if (!isEnvelope(unchecked) || meta === undefined || !hasFacts || position === '0')
    return damaged(unchecked, 'wrong_envelope')
  if (data !== latest.data && isTooDeep(data)) return damaged({ ...unchecked, data: '' }, 'too_large')
  const { id, stream, revision, type, version, at, content } = unchecked
  return { id, stream, revision, position, type, version, at, data, content, meta }
}

/** The event of a record with facts and metadata as JSON text, or the damaged record; `null` stands for a text that was too long to be read. */
export function recordOfText(
  row: Omit<Unchecked, 'data' | 'meta'> & { readonly data: string | null; readonly meta: string | null },
): LogRecord {
  if (row.data === null || row.meta === null) return damaged({ ...row, data: '', meta: '' }, 'too_large')
  const known = metaInUsualForm(row.meta)
  const isRepeated = row.data === latest.text
  const data = isRepeated ? latest.data : jsonOf(row.data)
  const meta = known ?? jsonOf(row.meta)
  if (data === undefined || meta === undefined) return damaged(row, 'no_json')
  try {
    if (!isRepeated && isAmbiguous(row.data, data)) return damaged(row, 'repeated_name')
    if (known === undefined && isAmbiguous(row.meta, meta)) return damaged(row, 'repeated_name')
  } catch (fault) {
    // The value is nested deeper than the stack allows.
    if (fault instanceof RangeError) return damaged(row, 'too_large')
    throw fault
  }
  const { id, stream, revision, position, type, version, at, content } = row
  const record = recordOf({ id, stream, revision, position, type, version, at, data, content, meta }, known)
  if (row.data.length <= longestKept && !isDamaged(record)) latest = { text: row.data, data }
  return record
}

/** The facts that were parsed and checked last. Consecutive events often have the same facts: pieces of output differ only in their content. */
let latest: { readonly text: string; readonly data: unknown } = { text: '{}', data: {} }
const longestKept = 1_000

const name = String.raw`"([^"\\\u0000-\u001f]*)"`
// Written out 64 times, because a counted repetition is slower, and every event that is read is matched.
const hash = '[0-9a-f]'.repeat(64)
const usualForm = new RegExp(
  String.raw`^\{"actor":\{"kind":"(?:user","userId":${name}|system","service":${name})\},` +
    `"commandId":${name},"correlationId":${name},"causationId":(?:null|${name}),` +
    String.raw`"follows":(?:null|(0|[1-9]\d{0,14})),` +
    String.raw`"content":(?:null|\{"sealed":"(${hash})","commitment":"(${hash})"\}),"prev":"(|${hash})","hash":"(${hash})"\}$`,
)

/** Metadata in exactly the form in which it is appended, which needs neither a parser nor another check; `undefined` for any other form. */
function metaInUsualForm(text: string): EventMeta | undefined {
  const found = usualForm.exec(text)
  if (found === null) return undefined
  const [, userId, service = '', commandId = '', correlationId = '', causationId, follows] = found
  const { 7: sealed, 8: commitment = '', 9: prev = '', 10: hash = '' } = found
  return {
    actor: userId === undefined ? { kind: 'system', service } : { kind: 'user', userId },
    commandId,
    correlationId,
    causationId: causationId ?? null,
    follows: follows === undefined ? null : Number(follows),
    content: sealed === undefined ? null : { sealed, commitment },
    prev,
    hash,
  }
}

function damaged(unchecked: Unchecked, damage: DamageReason): DamagedRecord {
  const { stream, revision, position, type } = unchecked
  const [data, meta] = [unchecked.data, unchecked.meta].map((part) =>
    typeof part === 'string' ? part : (JSON.stringify(part) ?? ''),
  )
  const hashes = [...(meta ?? '').matchAll(/"hash"\s*:\s*"([0-9a-f]{64})"/g)].map(([, hash]) => hash)
  return {
    damage,
    stream,
    revision,
    position,
    type,
    hash: hashes.length === 1 ? (hashes[0] ?? null) : null,
    beginning: [data, meta].map((part) => (part ?? '').slice(0, shownLength)).join(' '),
  }
}
const shownLength = 300

/** Whether a value is nested too deeply. Facts are flat, and reading deeper ones could overflow the stack. */
function isTooDeep(value: unknown, left = 100): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((member) => isTooDeep(member, left - 1))
}

/**
 * Whether the text has the same name twice in an object. First compares the text with our own form of the value, which is cheaper and suffices for
 * nearly every text.
 */
function isAmbiguous(text: string, value: unknown): boolean {
  return JSON.stringify(value) !== text && hasRepeatedName(text, value)
}

/**
 * Throws `RangeError` unless the revisions of the events continue the stream. A gap or an additional event in a stream could never be repaired, so
 * the revisions that the caller has set are checked here.
 */
export function checkRevisions(
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
): void {
  for (const [index, event] of events.entries()) {
    if (event.stream !== stream || event.revision !== expected + 1 + index) {
      throw new RangeError(
        `Event ${index} is ${event.stream} @ ${event.revision}; it must be ${stream} @ ${expected + 1 + index}.`,
      )
    }
  }
}
