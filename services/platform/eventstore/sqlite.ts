/** The embedded event store: one table in a SQLite file, one writer process. */
import type { EventMeta, Position, StoredEvent } from '#domain/kernel/event.ts'
import type {
  AppendResult,
  EventFilter,
  EventStore,
  EventToAppend,
  ExpectedRevision,
} from '../ports/eventStore.ts'
import { EngineUnavailable } from '../ports/faults.ts'
import type { ReportFault } from '../ports/faults.ts'
import { openSqlite, type SqlValue } from '../engines/sqlite.ts'
import { checkRevisions } from './checkRevisions.ts'
import { follow } from './catchUpSubscription.ts'
import type { Follower, Found } from './catchUpSubscription.ts'

/** Those before it held the log in a form that is not read any more. */
const firstFormat = 4
const formats = [
  // An id is the writer's word: the log looks for it only where an append is repeated, at its place in its stream. An index over random
  // ids costs a page of the disk for each event, once the log is larger than the cache.
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

const columns = 'position, id, stream, revision, type, version, at, data, content, meta'
type Row = [number, string, string, number, string, number, string, string, string | null, string]

// Appends that wait in the same turn share a transaction, since its fsync is most of what an append costs.
const largestGroup = 256
/** Events that a subscription looks through in one turn for those that it wants. */
const lookedThrough = 5_000

interface Append {
  readonly stream: string
  readonly expected: ExpectedRevision
  readonly events: readonly EventToAppend[]
  readonly resolve: (result: AppendResult) => void
  readonly reject: (fault: unknown) => void
}

/** Opens the log in `file`; an append is on the disk (fsync) when it is answered. */
export function openSqliteEventStore(options: { file: string; onFault: ReportFault }): EventStore {
  const { file, onFault } = options
  const db = openSqlite({ file, synchronous: 'FULL', formats, firstFormat })
  const followers = new Set<Follower>()
  const waiting: Append[] = []
  let closed = false

  const revisionOf = db.prepare<[string], [number | null]>(
    'SELECT max(revision) FROM events WHERE stream = ?',
  )
  const between = db.prepare<[string, number, number], [number, string]>(
    'SELECT position, id FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision',
  )
  const insert = db.prepare<[string, string, number, string, number, string, string, string | null, string]>(
    'INSERT INTO events (id, stream, revision, type, version, at, data, content, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const forwards = db.prepare<[string, number, number], Row>(
    `SELECT ${columns} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`,
  )
  const backwards = db.prepare<[string, number, number], Row>(
    `SELECT ${columns} FROM events WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`,
  )
  const all = db.prepare<[number, number], Row>(
    `SELECT ${columns} FROM events WHERE position > ? ORDER BY position LIMIT ?`,
  )
  const last = db.prepare<[], [number | null]>('SELECT max(position) FROM events')

  const readAll = (after: Position | null, limit: number): readonly StoredEvent[] =>
    all.all(Number(after ?? 0), Math.max(0, limit)).map(storedEvent)

  /** Nothing is appended between the two reads. */
  function find(after: Position | null, limit: number, wanted: EventFilter | undefined): Found | null {
    if (!wanted) {
      const events = readAll(after, limit)
      const upTo = events.at(-1)?.position
      return upTo === undefined ? null : { events, upTo }
    }
    // However many are not wanted, others have their turn.
    const end = Math.min(Number(after ?? 0) + lookedThrough, last.get()?.[0] ?? 0)
    if (end <= Number(after ?? 0)) return null
    const events = readWanted(after, limit, wanted, end)
    const full = events.length === limit ? events.at(-1) : undefined
    return { events, upTo: full?.position ?? String(end) }
  }

  function head(): Position | null {
    const position = last.get()?.[0] ?? null
    return position === null ? null : String(position)
  }

  function readWanted(
    after: Position | null,
    limit: number,
    wanted: EventFilter,
    upTo = Number.MAX_SAFE_INTEGER,
  ): readonly StoredEvent[] {
    const { sql, values } = filterSql(wanted)
    return db
      .prepare<readonly SqlValue[], Row>(
        `SELECT ${columns} FROM events WHERE position > ? AND position <= ? AND ${sql} ORDER BY position LIMIT ?`,
      )
      .all(Number(after ?? 0), upTo, ...values, Math.max(0, limit))
      .map(storedEvent)
  }

  function store({ stream, expected, events }: Append): AppendResult {
    const actual = revisionOf.get(stream)?.[0] ?? -1
    if (actual !== expected) {
      const stored = between.all(stream, expected + 1, expected + events.length)
      const isRepeat =
        events.length > 0 &&
        stored.length === events.length &&
        stored.every(([, id], index) => id === events[index]?.id)
      return isRepeat
        ? { kind: 'appended', positions: stored.map(([position]) => String(position)) }
        : { kind: 'conflict', actual }
    }
    const positions = events.map(({ id, revision, type, version, at, data, content, meta }) =>
      String(
        insert.run(
          id,
          stream,
          revision,
          type,
          version,
          at,
          JSON.stringify(data),
          content,
          JSON.stringify(meta),
        ).rowid,
      ),
    )
    return { kind: 'appended', positions }
  }

  function commit(group: readonly Append[]): void {
    try {
      const outcomes = db.transaction(() => group.map((append) => ({ append, result: store(append) })))
      for (const { append, result } of outcomes) append.resolve(result)
    } catch (fault) {
      if (group.length === 1 || fault instanceof EngineUnavailable) {
        for (const append of group) append.reject(fault)
      } else {
        // One of them is a defect (data that is no JSON): the others must not suffer for it.
        for (const append of group) commit([append])
      }
    }
  }

  function flush(): void {
    if (waiting.length === 0) return
    commit(waiting.splice(0, largestGroup))
    for (const follower of followers) follower.wake()
    if (waiting.length > 0) setImmediate(flush)
  }

  return {
    append: (stream, expected, events) =>
      new Promise((resolve, reject) => {
        if (closed) throw new EngineUnavailable(`The database ${file}`)
        checkRevisions(stream, expected, events)
        waiting.push({ stream, expected, events, resolve, reject })
        if (waiting.length === 1) setImmediate(flush)
      }),
    readStream: async (stream, { from, direction, limit }) => {
      const most = Math.max(0, limit)
      switch (direction) {
        case 'forwards':
          return from === 'end' ? [] : forwards.all(stream, from, most).map(storedEvent)
        case 'backwards':
          return backwards.all(stream, from === 'end' ? Number.MAX_SAFE_INTEGER : from, most).map(storedEvent)
      }
    },
    readAll: async (after, limit, wanted) =>
      wanted === undefined ? readAll(after, limit) : readWanted(after, limit, wanted),
    head: async () => head(),
    subscribe: (after, batch, handle, wanted) => {
      const read = (cursor: Position | null) => find(cursor, batch, wanted)
      const follower = follow({ after, read, handle, onFault })
      followers.add(follower)
      return {
        stop: () => {
          followers.delete(follower)
          return follower.stop()
        },
      }
    },
    ready: async () => {
      last.get()
    },
    close: async () => {
      // What subscribers still append while they end is taken too.
      await Promise.all([...followers].map((follower) => follower.stop()))
      closed = true
      while (waiting.length > 0) commit(waiting.splice(0, largestGroup))
      db.close()
    },
  }
}

function storedEvent(row: Row): StoredEvent {
  const [position, id, stream, revision, type, version, at, data, content, meta] = row
  const parsed: EventMeta = JSON.parse(meta)
  return {
    id,
    stream,
    revision,
    position: String(position),
    type,
    version,
    at,
    data: JSON.parse(data),
    content,
    meta: parsed,
  }
}

/** The events that are wanted, as a condition. */
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
