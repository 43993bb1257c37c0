/** The embedded read store: a table for each collection in a SQLite file, documents as JSON text. */
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Position } from '#domain/kernel/event.ts'
import {
  catalogIn,
  isGeneration,
  storedNames,
  type Aside,
  type Catalog,
  type Change,
  type Collection,
  type Document,
  type Find,
  type ReadStore,
  type Served,
} from '../ports/readStore.ts'
import { openSqlite, overwriteFreed, type Sqlite, type SqlValue, type Statement } from '../engines/sqlite.ts'
import { countSql, findSql, tableOf, putSql, replaceSql, type Table } from './sqlQueries.ts'
import { dropTable, landTable, openTable, prepareTable } from './sqlTables.ts'

const formats = [
  'CREATE TABLE checkpoints (projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT',
  // Runs no SQL. From this format on, `prepare` adds columns for keys, and a server that knows only earlier formats must not write to the file.
  '',
  // Pages that were freed before this format still contain old data.
  overwriteFreed,
  'CREATE TABLE catalog (only INTEGER PRIMARY KEY CHECK (only = 1), revision INTEGER NOT NULL, body TEXT NOT NULL) STRICT',
]

/**
 * Opens the read models in `file`. A power cut may lose the last writes together with their checkpoint; they are then computed again from the log.
 */
export function openSqliteReadStore(options: { file: string; served?: readonly Served[] }): ReadStore {
  const { file, served = [] } = options
  return readStoreIn(openSqlite({ file, synchronous: 'NORMAL', formats, overwrites: true }), file, { served })
}

type Query = Statement<readonly SqlValue[], [string, string]>

/** The limit of each cache of documents: the total length of their JSON texts, in UTF-16 code units. */
const keptLength = 4_000_000

function statements(db: Sqlite) {
  return {
    moveCheckpoint: db.prepare<[string, string]>(
      `INSERT INTO checkpoints (projection, position) VALUES (?, ?)
       ON CONFLICT (projection) DO UPDATE SET position = excluded.position WHERE excluded.position > position`,
    ),
    changesOfOthers: db.prepare<[], [number]>('PRAGMA data_version'),
    ownChanges: db.prepare<[], [number]>('SELECT total_changes()'),
    checkpoint: db.prepare<[string], [string]>('SELECT position FROM checkpoints WHERE projection = ?'),
    forget: db.prepare<[string]>('DELETE FROM checkpoints WHERE projection = ?'),
    catalogRevision: db.prepare<[], [number]>('SELECT revision FROM catalog'),
    catalogBody: db.prepare<[], [string]>('SELECT body FROM catalog'),
    makeCatalog: db.prepare<[number, string]>(
      'INSERT INTO catalog (only, revision, body) VALUES (1, ?, ?) ON CONFLICT DO NOTHING',
    ),
    replaceCatalog: db.prepare<[number, string, number]>(
      'UPDATE catalog SET revision = ?, body = ? WHERE revision = ?',
    ),
  }
}

/** The SQL that writes a document into a table. */
interface Writes {
  readonly replace: string
  readonly put: string
}

interface SqliteReadStore extends ReturnType<typeof statements> {
  readonly db: Sqlite
  readonly names: ReturnType<typeof storedNames>
  readonly replacesFirst: boolean
  /** By SQL text. All queries are kept, because all texts are from code and there are few of them. */
  readonly preparedQueries: Map<string, Query>
  readonly tables: Map<string, Table & Writes>
  /**
   * The documents that were read or written last, by table and id. Their texts are read from the file each time, but parsed again only after a
   * change, so readers get the same object for the same document.
   */
  readonly parsed: LRUCache<string, { readonly body: string; readonly document: Document }>
  /**
   * The results of `find` since the file last changed, by query. Any change empties this cache, so nothing has to track which queries a change
   * affects.
   */
  readonly found: LRUCache<string, readonly Document[]>
  /** The file's changes by this connection and by others, as counted when `found` was last emptied. */
  counted: string
  /** The catalog as last read. Other processes and threads rarely change it. */
  known: Catalog
}

function readStoreIn(
  db: Sqlite,
  file: string,
  { served = [], replacesFirst = true }: { served?: readonly Served[]; replacesFirst?: boolean },
): ReadStore {
  const { checkpoint, forget, ...prepared } = statements(db)
  const store: SqliteReadStore = {
    ...prepared,
    checkpoint,
    forget,
    db,
    names: storedNames(served),
    replacesFirst,
    preparedQueries: new Map(),
    tables: new Map(),
    found: new LRUCache({ maxSize: keptLength }),
    counted: '',
    parsed: new LRUCache({ maxSize: keptLength, sizeCalculation: ({ body }) => body.length + 1 }),
    known: catalogIn(undefined),
  }
  return {
    catalog: async () => currentCatalog(store),
    replaceCatalog: (next) => replaceCatalogIf(store, next),
    prepare: (collections) => prepareCollections(store, collections),
    apply: (changes, moved) => applyChanges(store, changes, moved),
    checkpoint: async (projection) => {
      const row = checkpoint.get(projection)
      return row === undefined ? null : row[0].replace(/^0+(?=\d)/, '')
    },
    get: (collection, id) => getDocument(store, collection, id),
    getMany: (collection, ids) => getDocuments(store, collection, ids),
    find: (collection, query) => findDocuments(store, collection, query),
    count: (collection, where) => countDocuments(store, collection, where),
    forget: async (projection) => void forget.run(projection),
    generations: () => storedGenerations(store),
    drop: (collections, signal) => dropCollections(store, collections, signal),
    aside: async (part) => openAside(db, `${file}.part${part}`),
    removeAsides: async () => removeAsides(file),
    scrub: async () => db.truncateLog(),
    ready: async () => {
      checkpoint.get('')
    },
    close: async () => db.close(),
  }
}

function prepared(store: SqliteReadStore, sql: string): Query {
  const statement =
    store.preparedQueries.get(sql) ?? store.db.prepare<readonly SqlValue[], [string, string]>(sql)
  store.preparedQueries.set(sql, statement)
  return statement
}

function tableFor(store: SqliteReadStore, name: string): Table & Writes {
  const known = store.tables.get(name)
  if (known !== undefined) return known
  const opened = openTable(store.db, name)
  const table = { ...opened, replace: replaceSql(opened), put: putSql(opened) }
  store.tables.set(name, table)
  return table
}

function write(
  store: SqliteReadStore,
  name: string,
  id: string,
  position: Position,
  document: Document | null,
): void {
  const table = tableFor(store, name)
  const body = document && JSON.stringify(document)
  const key = keyOf(tableOf(name), id)
  // Replaced and removed documents leave the memory as they leave the file.
  if (document === null || body === null) store.parsed.delete(key)
  else store.parsed.set(key, { body, document })
  const values = [id, ordered(position), body]
  if (store.replacesFirst && body !== null && prepared(store, table.replace).run(...values).changes > 0)
    return
  prepared(store, table.put).run(...values)
}

function currentCatalog(store: SqliteReadStore): Catalog {
  const revision = store.catalogRevision.get()?.[0] ?? 0
  if (revision !== store.known.revision) store.known = catalogIn(store.catalogBody.get()?.[0])
  return store.known
}

function storedAs(store: SqliteReadStore, collection: string): string {
  return store.names(collection, currentCatalog(store))
}

async function replaceCatalogIf(store: SqliteReadStore, next: Catalog): Promise<boolean> {
  const body = JSON.stringify(next)
  const { changes } =
    next.revision === 1
      ? store.makeCatalog.run(next.revision, body)
      : store.replaceCatalog.run(next.revision, body, next.revision - 1)
  return changes > 0
}

async function prepareCollections(store: SqliteReadStore, collections: readonly Collection[]): Promise<void> {
  return store.db.transaction(() => {
    store.tables.clear()
    for (const collection of collections) prepareTable(store.db, collection)
  })
}

/** How many changes are written in one transaction, before other work of this process gets its turn. */
const changesAtOnce = 500

async function applyChanges(
  store: SqliteReadStore,
  changes: readonly Change[],
  moved: { projection: string; position: Position } | null,
): Promise<void> {
  let from = 0
  for (; changes.length - from > changesAtOnce; from += changesAtOnce) {
    store.db.transaction(() => writeAll(store, changes.slice(from, from + changesAtOnce)))
    await nextTurn()
  }
  store.db.transaction(() => {
    writeAll(store, changes.slice(from))
    if (moved) store.moveCheckpoint.run(moved.projection, ordered(moved.position))
  })
}

function writeAll(store: SqliteReadStore, changes: readonly Change[]): void {
  for (const change of changes) {
    const name = storedAs(store, change.collection)
    switch (change.kind) {
      case 'put':
        write(store, name, change.document.id, change.position, change.document)
        break
      case 'remove':
        write(store, name, change.id, change.position, null)
        break
    }
  }
}

async function getDocument(
  store: SqliteReadStore,
  collection: string,
  id: string,
): Promise<Document | undefined> {
  const table = tableOf(storedAs(store, collection))
  const row = prepared(store, `SELECT id, body FROM ${table} WHERE id = ? AND present = 1`).get(id)
  return row === undefined ? undefined : parsed(store, table, row)
}

async function getDocuments(
  store: SqliteReadStore,
  collection: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Document>> {
  const table = tableOf(storedAs(store, collection))
  const rows = prepared(
    store,
    `SELECT id, body FROM ${table} WHERE id IN (SELECT value FROM json_each(?)) AND present = 1`,
  ).all(JSON.stringify(ids))
  return new Map(rows.map((row) => [row[0], parsed(store, table, row)]))
}

async function findDocuments(
  store: SqliteReadStore,
  collection: string,
  query: Find,
): Promise<readonly Document[]> {
  const counted = `${store.changesOfOthers.get()?.[0]} ${store.ownChanges.get()?.[0]}`
  if (counted !== store.counted) {
    store.found.clear()
    store.counted = counted
  }
  const key = JSON.stringify([collection, query])
  const kept = store.found.get(key)
  if (kept !== undefined) return kept
  const table = tableFor(store, storedAs(store, collection))
  const { sql, values } = findSql(table, query)
  const name = tableOf(table.collection)
  const rows = prepared(store, sql).all(...values)
  const found = rows.map((row) => parsed(store, name, row))
  store.found.set(key, found, { size: rows.reduce((length, [, body]) => length + body.length, key.length) })
  return found
}

async function countDocuments(
  store: SqliteReadStore,
  collection: string,
  where: Find['where'],
): Promise<number> {
  const { sql, values } = countSql(tableFor(store, storedAs(store, collection)), where)
  return Number(prepared(store, sql).get(...values)?.[0])
}

async function storedGenerations(store: SqliteReadStore): Promise<readonly string[]> {
  return store.db
    .prepare<[], [string]>(
      `SELECT substr(name, 6) FROM sqlite_master WHERE type = 'table' AND name LIKE 'docs\\_%' ESCAPE '\\'`,
    )
    .all()
    .map(([name]) => name)
    .filter(isGeneration)
}

async function dropCollections(
  store: SqliteReadStore,
  collections: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const name of collections) {
    store.tables.delete(name)
    await dropTable(store.db, name, signal)
  }
}

/** Opens a database in a file of its own, for a rebuild. Writes to this database neither block writes to `db` nor wait for them. */
function openAside(db: Sqlite, file: string): Aside {
  const remove = () => {
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
  }
  remove()
  // The file is not synced to the disk: if the rebuild is interrupted, the file is discarded anyway.
  const own = openSqlite({ file, synchronous: 'OFF', formats, overwrites: false })
  const { prepare, apply, getMany, find, close } = readStoreIn(own, file, { replacesFirst: false })
  return {
    prepare,
    apply,
    getMany,
    find,
    land: async (collections, signal) => {
      await close()
      for (const name of collections) await landTable(db, file, name, signal)
      remove()
    },
    close: async () => {
      await close()
      remove()
    },
  }
}

/** Removes all files `<file>.part…`, whatever their number: the folder may come from a machine that used more parts. */
function removeAsides(file: string): void {
  const ofFile = `${basename(file)}.part`
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(ofFile)) rmSync(join(dirname(file), name), { force: true })
}

/** Pads a position to 20 digits, so that it sorts as text. */
function ordered(position: Position): string {
  return position.padStart(20, '0')
}

function keyOf(table: string, id: string): string {
  return `${table} ${id}`
}

function parsed(store: SqliteReadStore, table: string, [id, body]: [string, string]): Document {
  const key = keyOf(table, id)
  const before = store.parsed.get(key)
  if (before?.body === body) return before.document
  const document: Document = JSON.parse(body)
  store.parsed.set(key, { body, document })
  return document
}
