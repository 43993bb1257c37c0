/**
 * The log: events are appended once, in order, and never changed. Held by `tests/contracts/eventStore.spec.ts`, which every adapter passes unchanged.
 * A disk or a person may damage stored records: reads return such a record as a `DamagedRecord` in its place and go on, and the reader sets the
 * record's stream aside.
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

/** A record that is stored in place of an event but cannot be read as one. Its names may be damaged too. */
export interface DamagedRecord {
  readonly damage: DamageReason
  readonly stream: string
  /** The revision; `-1` when the record does not say. */
  readonly revision: number
  /** `'0'` when the record does not say: it then sorts before all others. */
  readonly position: Position
  readonly type: string
  /** Its `meta.hash`, if that is still readable. */
  readonly hash: string | null
  /** The beginning of its stored facts and metadata, but never of its content. */
  readonly beginning: string
}

/** The result of a read: an event, or what is left of one. */
export type LogRecord = StoredEvent | DamagedRecord

export function isDamaged(record: LogRecord): record is DamagedRecord {
  return 'damage' in record
}

/** The events among the records, for readers that can ignore a damaged stream. */
export function intact(records: readonly LogRecord[]): readonly StoredEvent[] {
  return records.filter((record): record is StoredEvent => !isDamaged(record))
}

/** An event before the log has given it its position. */
export type EventToAppend = Omit<StoredEvent, 'position'>

export interface ReadStream {
  /** The first revision, inclusive; backwards reads start here and go down. */
  readonly from: number | 'end'
  readonly direction: 'forwards' | 'backwards'
  /** The maximum number of events. */
  readonly limit: number
  /**
   * A position that a subscription of this store has delivered: the answer then only needs to include events up to it, so a replica may answer.
   * Without it, the answer includes everything appended before the call.
   */
  readonly asOf?: Position
}

/** Which events a reader wants: those that match every given member. The store filters if it can. */
export interface EventFilter {
  /** Prefixes of stream names, of which one must match. */
  readonly streams: readonly string[]
  /** Event types, of which one must match; by default, any type. */
  readonly types?: readonly string[]
  /** Streams are divided into `of` parts by the last character of their names; only those in part `index` match. */
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

/** Handles wanted records of the log, all of them up to the position. */
export type HandleEvents = (events: readonly LogRecord[], upTo: Position) => Promise<void>

/** A running subscription. `stop` resolves once no handler is running. */
export interface Subscription {
  stop(): Promise<void>
}

export interface EventStore {
  /**
   * Appends all events or none. The caller sets their revisions, from `expected + 1` without gaps; wrong ones are a defect and throw. `data` is plain
   * JSON. An id must never be used for two events: an engine that notices that throws. Throws `EngineUnavailable` when the engine cannot be reached;
   * the outcome is then unknown: repeat the append with the same ids.
   */
  append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]): Promise<AppendResult>
  /**
   * Events of one stream in the requested order; none for an unknown stream. A stream whose first events were removed by the engine begins later;
   * throws `RemovedStream` when all were removed.
   */
  readStream(stream: string, read: ReadStream): Promise<readonly LogRecord[]>
  /** The first `limit` wanted events of all streams with `position > after`, in position order; `null` starts at the beginning. */
  readAll(after: Position | null, limit: number, wanted?: EventFilter): Promise<readonly LogRecord[]>
  /** The position of the last event in the log, or `null` when it is empty. */
  head(): Promise<Position | null>
  /**
   * Calls `handle` with every event with `position > after`, in position order, in batches of at most `batch`, one batch at a time. If `handle`
   * throws, it gets the same batch again after a pause (50 ms, doubling to 5 s). Never ends by itself; `handle` must not await its own `stop`. With
   * `wanted`, only those events are delivered; `upTo` is then how far the log was searched, even for a batch without events. It may be beyond `head`
   * when the engine also stores events of others.
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
