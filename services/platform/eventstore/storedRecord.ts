/** Converts a stored record to an event, or to a damaged record. No other code trusts a stored row. */
import { z } from 'zod'
import { EventMeta } from '#domain/kernel/event.schema.ts'
import type { DamageReason, Position } from '#domain/kernel/event.ts'
import { hasRepeatedName } from '#domain/kernel/unambiguousJson.ts'
import { jsonOf } from '../json.ts'
import type { DamagedRecord, LogRecord, EventToAppend, ExpectedRevision } from '../ports/eventStore.ts'

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

const Envelope = z.object({
  id: z.string().min(1),
  stream: z.string().min(1),
  revision: z.int().nonnegative(),
  type: z.string().min(1),
  version: z.int().positive(),
  at: z.iso.datetime(),
  data: z.record(z.string(), z.unknown()),
  content: z.string().nullable(),
  meta: EventMeta,
})

/** The event of a record with parsed facts and metadata, or the damaged record. */
export function recordOf(unchecked: Unchecked): LogRecord {
  const { position, data } = unchecked
  const { success, data: envelope } = Envelope.safeParse(unchecked)
  if (!success || position === '0') return damaged(unchecked, 'wrong_envelope')
  return isTooDeep(data) ? damaged({ ...unchecked, data: '' }, 'too_large') : { ...envelope, position, data }
}

/** The event of a record with facts and metadata as JSON text, or the damaged record; `null` stands for a text that was too long to be read. */
export function recordOfText(
  row: Omit<Unchecked, 'data' | 'meta'> & { readonly data: string | null; readonly meta: string | null },
): LogRecord {
  if (row.data === null || row.meta === null) return damaged({ ...row, data: '', meta: '' }, 'too_large')
  const data = jsonOf(row.data)
  const meta = jsonOf(row.meta)
  if (data === undefined || meta === undefined) return damaged(row, 'no_json')
  try {
    if (isAmbiguous(row.data, data) || isAmbiguous(row.meta, meta)) return damaged(row, 'repeated_name')
  } catch (fault) {
    // The value is nested deeper than the stack allows.
    if (fault instanceof RangeError) return damaged(row, 'too_large')
    throw fault
  }
  return recordOf({ ...row, data, meta })
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
