/** The embedded event store: one table in a SQLite file, one writer process. */
import { LRUCache } from 'lru-cache'
import type { Position, StoredEvent } from '#domain/kernel/event.ts'
import {
  matches,
  type AppendResult,
  type EventFilter,
  type EventStore,
  type EventToAppend,
  type ExpectedRevision,
  type HandleEvents,
  type LogRecord,
  type ReadStream,
  type Subscription,
} from '../ports/eventStore.ts'
import { EngineUnavailable, type ReportFault } from '../ports/faults.ts'
import { openSqlite, type SqlValue } from '../engines/sqlite.ts'
import { checkRevisions, largestRecordBytes, recordOfText } from './storedRecord.ts'
import { follow, type Batch, type Follower } from './catchUpSubscription.ts'

/** Files of an earlier format than this one are not supported. */
const firstFormat = 4
const formats = [
  // There is no index on ids. An id is compared only when an append is repeated, and its row is then found by stream and revision. An index on random
  // ids would cost a disk page per event when the log is larger than the cache.
  `CREATE TABLE events (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL,
     stream TEXT NOT NULL,
     revision INTEGER NOT NULL,
     type TEXT NOT NULL,
     version INTEGER NOT NULL,
     at TEXT NOT NULL,
     data TEXT NOT NULL,
     content TEXT,
     meta TEXT NOT NULL,
     UNIQUE (stream, revision)
   ) STRICT`,
]

/** No assigned position is larger. Positions in damaged rows may even exceed the safe integers. */
const largestPosition = 1_000_000_000_000_000
const whole = (column: string) => `iif(${column} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}, ${column}, -1)`
const size = 'octet_length(data) + octet_length(meta) + ifnull(octet_length(content), 0)'
/** SQL for a column that is read as NULL when the whole record is too large. */
const bounded = (column: string) => `iif(${size} <= ${largestRecordBytes}, ${column}, NULL)`
/** SQL for a name, cut to 500 characters. `substr` copies, so it is left out for a name that is short anyway. */
const name = (column: string) => `iif(octet_length(${column}) <= 500, ${column}, substr(${column}, 1, 500))`
const columns = [
  whole('position'),
  name('id'),
  whole('revision'),
  name('type'),
  whole('version'),
  name('at'),
  ...['data', 'content', 'meta'].map(bounded),
].join(', ')
type Row = [number, string, number, string, number, string, string | null, string | null, string | null]

// The most appends of one turn of the event loop that share a transaction. They share it because the fsync is most of the cost of an append.
const largestGroup = 256
const knownStreams = 2_000
const lookedThrough = 5_000
const tailEvents = 256
const tailCharacters = 1_048_576

interface Append {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly EventToAppend[]
  readonly resolve: (result: AppendResult) => void
  readonly reject: (fault: unknown) => void
}

/**
 * The last events that this process has appended, without a gap in their positions. Subscribers that keep up get these instead of reading and parsing
 * the rows again.
 */
interface Tail {
  /** The position before the first of the events. */
  readonly after: number
  readonly events: readonly StoredEvent[]
}

type Db = ReturnType<typeof openSqlite>

const lastPosition = `SELECT max(position) FROM events WHERE position <= ${largestPosition}`

function statements(db: Db) {
  return {
    revisionOf: db.prepare<[string], [number | null]>(
      `SELECT min(max(revision), ${Number.MAX_SAFE_INTEGER}) FROM events WHERE stream = ?`,
    ),
    between: db.prepare<[string, number, number], [number, string]>(
      `SELECT ${whole('position')}, id FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision`,
    ),
    // SQLite itself would continue from the largest number in the table, which may be in a damaged row.
    free: db.prepare<[], [number]>(
      `SELECT 1 + max(ifnull((${lastPosition}), 0),
       ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'events' AND seq <= ${largestPosition}), 0))`,
    ),
    insert: db.prepare<
      [number, string, string, number, string, number, string, string, string | null, string]
    >(
      `INSERT INTO events (position, id, stream, revision, type, version, at, data, content, meta)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    forwards: db.prepare<[string, number, number], Row>(
      `SELECT ${columns} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`,
    ),
    backwards: db.prepare<[string, number, number], Row>(
      `SELECT ${columns} FROM events WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`,
    ),
    changesOfOthers: db.prepare<[], [number]>('PRAGMA data_version'),
    last: db.prepare<[], [number | null]>(lastPosition),
    next: db.prepare<[number], [number | null]>(
      `SELECT min(position) FROM events WHERE position > ? AND position <= ${largestPosition}`,
    ),
  }
}

interface SqliteLog extends ReturnType<typeof statements> {
  readonly file: string
  readonly db: Db
  readonly onFault: ReportFault
  readonly followers: Set<Follower>
  readonly waiting: Append[]
  /** The last revisions of the streams that this process has appended to. They hold until another connection has changed the file. */
  readonly revisions: LRUCache<string, number>
  /** The value of `PRAGMA data_version`, which changes with each change by another connection, when `revisions` were last checked. */
  counted: number | undefined
  tail: Tail
  closed: boolean
}

/** Opens the log in `file`. When an append is confirmed, it is on the disk (fsync). */
export function openSqliteEventStore({ file, onFault }: { file: string; onFault: ReportFault }): EventStore {
  const db = openSqlite({ file, synchronous: 'FULL', formats, firstFormat })
  const log: SqliteLog = {
    ...statements(db),
    file,
    db,
    onFault,
    followers: new Set(),
    waiting: [],
    revisions: new LRUCache({ max: knownStreams }),
    counted: undefined,
    tail: { after: Infinity, events: [] },
    closed: false,
  }
  return {
    append: (stream, expected, events) => append(log, stream, expected, events),
    readStream: async (stream, range) => readStream(log, stream, range),
    readAll: async (after, limit, wanted) => readAll(log, after, limit, wanted),
    head: async () => head(log),
    subscribe: (after, batch, handle, wanted) => subscribe(log, after, batch, handle, wanted),
    ready: async () => {
      log.last.get()
    },
    close: () => close(log),
  }
}

/** The next events for a subscription; `null` when there are none. Synchronous, so that nothing is appended between its reads. */
function find(
  log: SqliteLog,
  after: Position | null,
  limit: number,
  wanted: EventFilter | undefined,
): Batch | null {
  const { tail } = log
  if (after !== null && Number(after) >= tail.after) {
    const newer = tail.events.slice(Number(after) - tail.after)
    const events = newer.filter((event) => !wanted || matches(wanted, event)).slice(0, limit)
    const upTo = (events.length === limit ? events : newer).at(-1)?.position
    return upTo === undefined ? null : { events, upTo }
  }
  if (!wanted) {
    const events = readAll(log, after, limit)
    const upTo = events.at(-1)?.position
    return upTo === undefined ? null : { events, upTo }
  }
  // Searches only a limited part of the log per turn, so that other work gets its turn. At a gap in the positions, continues after the gap.
  const begin = log.next.get(Number(after ?? 0))?.[0] ?? null
  if (begin === null) return null
  const end = Math.min(begin + lookedThrough, log.last.get()?.[0] ?? 0)
  const events = readAll(log, after, limit, wanted, end)
  const full = events.length === limit ? events.at(-1) : undefined
  return { events, upTo: full?.position ?? String(end) }
}

function head(log: SqliteLog): Position | null {
  const position = log.last.get()?.[0] ?? null
  return position === null ? null : String(position)
}

function readAll(
  log: SqliteLog,
  after: Position | null,
  limit: number,
  wanted?: EventFilter,
  upTo = largestPosition,
): readonly LogRecord[] {
  const most = Math.max(0, limit)
  const { sql, values } = wanted ? filterSql(wanted) : { sql: 'TRUE', values: [] }
  const select = (place: string, ...of: readonly SqlValue[]) =>
    log.db
      .prepare<readonly SqlValue[], [...Row, string]>(
        `SELECT ${columns}, ${name('stream')} FROM events WHERE ${place} AND ${sql} ORDER BY position LIMIT ?`,
      )
      .all(...of.slice(0, -1), ...values, of.at(-1) ?? 0)
      .map((row) => recordOfRow(row, row[9]))
  const strays = after === null ? select(`(position < 1 OR position > ${largestPosition})`, most) : []
  const placed = select('position > ? AND position <= ?', Number(after ?? 0), upTo, most - strays.length)
  return [...strays, ...placed]
}

/** Appends within a transaction; the positions begin at `free`. */
function appendNow(
  log: SqliteLog,
  { stream, expected, events }: Append,
  free: number,
): { result: AppendResult; stored: readonly StoredEvent[] } {
  const actual = log.revisions.get(stream) ?? log.revisionOf.get(stream)?.[0] ?? -1
  if (actual !== expected) {
    const stored = log.between.all(stream, expected + 1, expected + events.length)
    const isRepeat =
      events.length > 0 &&
      stored.length === events.length &&
      stored.every(([, id], index) => id === events[index]?.id)
    const positions = stored.map(([position]) => String(position))
    return { result: isRepeat ? { kind: 'appended', positions } : { kind: 'conflict', actual }, stored: [] }
  }
  const stored = events.map((event, index) => {
    const { id, revision, type, version, at, data, content, meta } = event
    const [facts, about] = [JSON.stringify(data), JSON.stringify(meta)]
    log.insert.run(free + index, id, stream, revision, type, version, at, facts, content, about)
    return { ...event, position: String(free + index) }
  })
  log.revisions.set(stream, expected + events.length)
  return { result: { kind: 'appended', positions: stored.map(({ position }) => position) }, stored }
}

function commit(log: SqliteLog, group: readonly Append[]): void {
  try {
    const { free, outcomes } = log.db.transaction(() => {
      forgetChangedRevisions(log)
      const [free] = log.free.get() ?? [1]
      let next = free
      const outcomes = group.map((append) => {
        const outcome = appendNow(log, append, next)
        next += outcome.stored.length
        return { append, ...outcome }
      })
      return { free, outcomes }
    })
    log.tail = lengthened(
      log.tail,
      free - 1,
      outcomes.flatMap(({ stored }) => stored),
    )
    for (const { append, result } of outcomes) append.resolve(result)
  } catch (fault) {
    log.revisions.clear()
    if (group.length === 1 || fault instanceof EngineUnavailable) {
      for (const append of group) append.reject(fault)
    } else {
      // One append is invalid (its data is not JSON), so each is committed alone and the others succeed.
      for (const append of group) commit(log, [append])
    }
  }
}

function forgetChangedRevisions(log: SqliteLog): void {
  const counted = log.changesOfOthers.get()?.[0]
  if (counted !== log.counted) log.revisions.clear()
  log.counted = counted
}

/** The tail with `events`, which begin after the position `after`. If rows of others come between, only `events` are kept. */
function lengthened(tail: Tail, after: number, events: readonly StoredEvent[]): Tail {
  const all = tail.after + tail.events.length === after ? [...tail.events, ...events] : [...events]
  let [kept, characters] = [0, 0]
  while (kept < Math.min(all.length, tailEvents)) {
    characters += all.at(-1 - kept)?.content?.length ?? 0
    if (characters > tailCharacters) break
    kept += 1
  }
  return { after: after + events.length - kept, events: all.slice(all.length - kept) }
}

function flush(log: SqliteLog): void {
  if (log.waiting.length === 0) return
  commit(log, log.waiting.splice(0, largestGroup))
  for (const follower of log.followers) follower.wake()
  if (log.waiting.length > 0) setImmediate(() => flush(log))
}

function append(
  log: SqliteLog,
  stream: string,
  expected: ExpectedRevision,
  events: readonly EventToAppend[],
): Promise<AppendResult> {
  return new Promise((resolve, reject) => {
    if (log.closed) throw new EngineUnavailable(`The database ${log.file}`)
    checkRevisions(stream, expected, events)
    log.waiting.push({ stream, expected, events, resolve, reject })
    if (log.waiting.length === 1) setImmediate(() => flush(log))
  })
}

function readStream(
  log: SqliteLog,
  stream: string,
  { from, direction, limit }: ReadStream,
): readonly LogRecord[] {
  const most = Math.max(0, limit)
  const record = (row: Row) => recordOfRow(row, stream)
  switch (direction) {
    case 'forwards':
      return from === 'end' ? [] : log.forwards.all(stream, from, most).map(record)
    case 'backwards':
      return log.backwards.all(stream, from === 'end' ? Number.MAX_SAFE_INTEGER : from, most).map(record)
  }
}

function subscribe(
  log: SqliteLog,
  after: Position | null,
  batch: number,
  handle: HandleEvents,
  wanted: EventFilter | undefined,
): Subscription {
  const read = (cursor: Position | null) => find(log, cursor, batch, wanted)
  const follower = follow({ engine: `the database ${log.file}`, after, read, handle, onFault: log.onFault })
  log.followers.add(follower)
  return {
    stop: () => {
      log.followers.delete(follower)
      return follower.stop()
    },
  }
}

async function close(log: SqliteLog): Promise<void> {
  // Subscribers may still append while they are being stopped.
  await Promise.all([...log.followers].map((follower) => follower.stop()))
  log.closed = true
  while (log.waiting.length > 0) commit(log, log.waiting.splice(0, largestGroup))
  log.db.close()
}

function recordOfRow(row: readonly [...Row, ...string[]], stream: string): LogRecord {
  const [place, id, revision, type, version, at, data, content, meta] = row
  const position = String(place >= 1 && place <= largestPosition ? place : 0)
  return recordOfText({ position, id, stream, revision, type, version, at, data, content, meta })
}

function filterSql({ streams, types, part }: EventFilter): { sql: string; values: readonly SqlValue[] } {
  const ofStreams = streams.map(() => 'substr(stream, 1, length(?)) = ?').join(' OR ')
  const ofTypes = types && 'type IN (SELECT value FROM json_each(?))'
  const ofPart = part && 'unicode(substr(stream, -1)) % ? = ?'
  return {
    sql: [`(${ofStreams || 'FALSE'})`, ofTypes, ofPart].filter((each) => each !== undefined).join(' AND '),
    values: [
      ...streams.flatMap((prefix) => [prefix, prefix]),
      ...(types ? [JSON.stringify(types)] : []),
      ...(part ? [part.of, part.index] : []),
    ],
  }
}
