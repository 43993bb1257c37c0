/**
 * The log: events are appended once, in order, and never changed. Tested by `tests/contracts/eventStore.spec.ts`, which every adapter must pass. A
 * disk or a person may damage a stored record. Reads return a `DamagedRecord` in its place and continue, and the reader quarantines its stream.
 */
import type { DamageReason, Position, StoredEvent } from '#domain/kernel/event.ts'

/** The revision that a stream must have for an append: `-1` when it must not exist yet. */
export type ExpectedRevision = number

/**
 * The outcome of an append. `conflict` has the stream's current revision (`-1` when it has no event). Repeating an append with the same event ids and
 * the same expected revision returns `appended` with the original positions, so an append whose outcome is unknown can simply be repeated.
 */
export type AppendResult =
  | { readonly kind: 'appended'; readonly positions: readonly Position[] }
  | { readonly kind: 'conflict'; readonly actual: number }

/** A stored record that cannot be read as an event. The names in it may be damaged too. */
export interface DamagedRecord {
  readonly damage: DamageReason
  readonly stream: string
  /** The revision in the record; `-1` when it cannot be read. */
  readonly revision: number
  /** The position in the record; `'0'`, which sorts before all others, when it cannot be read. */
  readonly position: Position
  readonly type: string
  /** The record's `meta.hash`, if that can still be read. */
  readonly hash: string | null
  /** The beginning of the record's facts and metadata, without its content. */
  readonly beginning: string
}

/** What a read returns for each record: the event, or its readable parts. */
export type LogRecord = StoredEvent | DamagedRecord

export function isDamaged(record: LogRecord): record is DamagedRecord {
  return 'damage' in record
}

/** The events among the records, for readers that can ignore a damaged stream. */
export function intact(records: readonly LogRecord[]): readonly StoredEvent[] {
  return records.filter((record): record is StoredEvent => !isDamaged(record))
}

/** An event before the log has assigned its position. */
export type EventToAppend = Omit<StoredEvent, 'position'>

export interface ReadStream {
  /** The revision of the first event to read, inclusive. A backwards read goes down from there; from `end`, it begins with the last event. */
  readonly from: number | 'end'
  readonly direction: 'forwards' | 'backwards'
  /** The maximum number of events. */
  readonly limit: number
  /**
   * A position that a subscription of this store has delivered. The answer then only needs to include events up to it, so a replica may answer.
   * Without it, the answer includes everything that was appended before the call.
   */
  readonly asOf?: Position
}

/** The events that a reader wants: those that match every given member. If the store can, it uses the filter to send fewer events. */
export interface EventFilter {
  /** Prefixes of stream names, one of which must match. */
  readonly streams: readonly string[]
  /** Event types, one of which must match; by default, any type. */
  readonly types?: readonly string[]
  /** Streams are divided into `of` parts by the last character of their names; only the part `index` matches. */
  readonly part?: { readonly index: number; readonly of: number }
}

export function matches(
  { streams, types, part }: EventFilter,
  { stream, type }: Pick<StoredEvent, 'stream' | 'type'>,
): boolean {
  return (
    streams.some((prefix) => stream.startsWith(prefix)) &&
    (types === undefined || types.includes(type)) &&
    (part === undefined || (stream.codePointAt(stream.length - 1) ?? 0) % part.of === part.index)
  )
}

/** Handles `events`. With this call, all matching records up to the position `upTo` have been delivered. */
export type HandleEvents = (events: readonly LogRecord[], upTo: Position) => Promise<void>

/** A running subscription. `stop` resolves once no handler is running. */
export interface Subscription {
  stop(): Promise<void>
}

export interface EventStore {
  /**
   * Appends all events or none. The caller sets their revisions, from `expected + 1` without gaps. Wrong revisions are a bug of the caller, and
   * throw. `data` is plain JSON. An id must never be used for two events; an engine that notices a second use throws. Throws `EngineUnavailable` when
   * the engine cannot be reached. The outcome is then unknown: repeat the append with the same ids.
   */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>
  /**
   * Events of one stream in the requested order; none for an unknown stream. A stream whose first events were removed by the engine begins later. If
   * all of them were removed, a read from 0 or `end` throws `RemovedStream`.
   */
  readStream(stream: string, read: ReadStream): Promise<readonly LogRecord[]>
  /**
   * The first `limit` events of all streams that have `position > after` and match the filter, in position order; `null` starts at the beginning of
   * the log.
   */
  readAll(after: Position | null, limit: number, wanted?: EventFilter): Promise<readonly LogRecord[]>
  /** The position of the last event in the log, or `null` when it is empty. */
  head(): Promise<Position | null>
  /**
   * Calls `handle` with every event that has `position > after`, in position order, in batches of at most `batch`, one batch at a time. If `handle`
   * throws, it gets the same batch again after a pause (50 ms, doubling to 5 s). Runs until it is stopped; `handle` must not await its own `stop`.
   * With `wanted`, only matching events are delivered. `upTo` is then how far the log was searched, even for a batch without events. `upTo` may be
   * beyond `head` when the engine also stores events of others.
   */
  subscribe(after: Position | null, batch: number, handle: HandleEvents, wanted?: EventFilter): Subscription
  /** Resolves when the engine responds; throws `EngineUnavailable` otherwise. */
  ready(): Promise<void>
  close(): Promise<void>
}

/** The whole log, read page by page. */
export async function* wholeLog({ readAll }: Pick<EventStore, 'readAll'>): AsyncGenerator<LogRecord> {
  const page = 2_000
  for (let after: Position | null = null; ;) {
    const records: readonly LogRecord[] = await readAll(after, page)
    yield* records
    const last = records.at(-1)
    if (!last || records.length < page) return
    after = last.position
  }
}
