/**
 * The log: events appended once, in order, never changed. Held by `tests/contracts/eventStore.spec.ts`,
 * which every adapter passes unchanged. A disk or a person may damage what is stored: every read gives such a record as a
 * `DamagedRecord` in its place and goes on, and whoever reads sets that record's stream aside.
 */
import type { DamageReason, Position, StoredEvent } from '#domain/kernel/event.ts'

/** The revision that a stream must have for an append: `-1` when it must not exist yet. */
export type ExpectedRevision = number

/**
 * The outcome of an append. `conflict` names the revision the stream has now (`-1` when it has no event).
 * Repeating it with the same event ids and the same expected revision answers `appended` with the original
 * positions, so an append whose outcome is unknown may simply be repeated.
 */
export type AppendResult =
  | { readonly kind: 'appended'; readonly positions: readonly Position[] }
  | { readonly kind: 'conflict'; readonly actual: number }

/** What is stored in the place of an event and cannot be taken for one. Its names may be damaged too. */
export interface DamagedRecord {
  readonly damage: DamageReason
  readonly stream: string
  /** `-1` when the record does not tell it. */
  readonly revision: number
  /** `'0'` when the record does not tell it: it then comes before all others. */
  readonly position: Position
  readonly type: string
  /** Its `meta.hash`, where that can still be read. */
  readonly hash: string | null
  /** What its facts and metadata begin with, as they are stored: never content. */
  readonly beginning: string
}

/** What a read gives: an event, or what is left of one. */
export type LogRecord = StoredEvent | DamagedRecord

export function isDamaged(record: LogRecord): record is DamagedRecord {
  return 'damage' in record
}

/** The events among the records, for readers to whom a damaged stream says nothing. */
export function intact(records: readonly LogRecord[]): readonly StoredEvent[] {
  return records.filter((record): record is StoredEvent => !isDamaged(record))
}

/** An event before the log has given it its position. */
export type EventToAppend = Omit<StoredEvent, 'position'>

export interface ReadStream {
  /** First revision wanted, inclusive; backwards reads start here and go down. */
  readonly from: number | 'end'
  readonly direction: 'forwards' | 'backwards'
  /** At most this many events. */
  readonly limit: number
  /**
   * A position that a subscription of this store has delivered: the answer need only hold events up to there, and a replica may give it.
   * Without it the answer holds everything appended before the call.
   */
  readonly asOf?: Position
}

/** Which events a reader wants: those that match every given member. The store filters where it can. */
export interface EventFilter {
  /** Prefixes of stream names, one of which must match. */
  readonly streams: readonly string[]
  /** Types, one of which must match; any type when not given. */
  readonly types?: readonly string[]
  /** Streams are divided into `of` parts by the last character of their names; only those of part `index` match. */
  readonly part?: { readonly index: number; readonly of: number }
}

/** Whether a reader wants the event. */
export function isWanted(
  { streams, types, part }: EventFilter,
  { stream, type }: Pick<StoredEvent, 'stream' | 'type'>,
): boolean {
  return (
    streams.some((prefix) => stream.startsWith(prefix)) &&
    (types === undefined || types.includes(type)) &&
    (part === undefined || (stream.codePointAt(stream.length - 1) ?? 0) % part.of === part.index)
  )
}

/** Takes the wanted records of the log, all up to the position. */
export type HandleEvents = (events: readonly LogRecord[], upTo: Position) => Promise<void>

/** A running subscription. `stop` resolves when no handler runs any more. */
export interface Subscription {
  stop(): Promise<void>
}

export interface EventStore {
  /**
   * Appends all events or none. The caller sets their revisions, from `expected + 1` without gaps; wrong ones are thrown as a
   * defect. `data` is plain JSON. An id is never used for two events: an engine that sees
   * it happen throws.
   * Throws `EngineUnavailable` when the engine cannot be reached; the outcome is then unknown: repeat it with the same ids.
   */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>
  /**
   * Events of one stream in the requested order; an unknown stream has none. A stream whose first events an engine has removed begins
   * later; throws `RemovedStream` when all were removed.
   */
  readStream(stream: string, read: ReadStream): Promise<readonly LogRecord[]>
  /** Events of all streams with `position > after`, in position order, the first `limit` that are wanted; `null` starts at the beginning. */
  readAll(after: Position | null, limit: number, wanted?: EventFilter): Promise<readonly LogRecord[]>
  /** The position of the last event in the log, or `null` when it is empty. */
  head(): Promise<Position | null>
  /**
   * Gives every event with `position > after` to `handle`, in position order, in batches of at most `batch`, one batch at
   * a time. A `handle` that throws is given the same batch again after a pause (50 ms, doubling to 5 s). Never ends by
   * itself; `handle` must not await its own `stop`.
   * With `wanted` it gives only those events; `upTo` is then how far the log was searched, also in a batch without events. It may lie
   * beyond `head`, where an engine holds events of others too.
   */
  subscribe(after: Position | null, batch: number, handle: HandleEvents, wanted?: EventFilter): Subscription
  /** Resolves when the engine answers; throws `EngineUnavailable` otherwise. */
  ready(): Promise<void>
  close(): Promise<void>
}
