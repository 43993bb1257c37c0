/** The embedded read store: a table for each collection in a SQLite file, documents as JSON text. */
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Position } from '#domain/kernel/event.ts'
import type { Aside, Catalog, Document, ReadStore, Served } from '../ports/readStore.ts'
import { openSqlite, overwriteFreed } from '../engines/sqlite.ts'
import type { Sqlite, SqlValue, Statement } from '../engines/sqlite.ts'
import { catalogIn, isGeneration, storedNames } from '../ports/catalog.ts'
import { countSql, findSql, tableOf } from './sqlQueries.ts'
import type { Table } from './sqlQueries.ts'
import { dropTable, landTable } from './moveTable.ts'
import { openTable, prepareTable } from './sqlTables.ts'
import { putSql, replaceSql } from './writeSql.ts'

const formats = [
  'CREATE TABLE checkpoints (projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT',
  // Keys have columns, which `prepare` adds; who does not know them must not write.
  '',
  // Pages that were freed until now still hold what was in them.
  overwriteFreed,
  'CREATE TABLE catalog (only INTEGER PRIMARY KEY CHECK (only = 1), revision INTEGER NOT NULL, body TEXT NOT NULL) STRICT',
]

/** Opens the read models in `file`. A power cut may take the last writes, with their checkpoint: they are folded again. */
export function openSqliteReadStore(options: { file: string; served?: readonly Served[] }): ReadStore {
  const { file, served = [] } = options
  return readStoreIn(openSqlite({ file, synchronous: 'NORMAL', formats, overwrites: true }), file, { served })
}

function readStoreIn(
  db: Sqlite,
  file: string,
  { served = [], replacesFirst = true }: { served?: readonly Served[]; replacesFirst?: boolean },
): ReadStore {
  const names = storedNames(served)
  // The texts of queries come from code and are few: all are kept.
  const kept = new Map<string, Statement<readonly SqlValue[], [string]>>()
  const prepared = (sql: string): Statement<readonly SqlValue[], [string]> => {
    const statement = kept.get(sql) ?? db.prepare<readonly SqlValue[], [string]>(sql)
    kept.set(sql, statement)
    return statement
  }
  const tables = new Map<string, Table>()
  const tableFor = (name: string): Table => {
    const table = tables.get(name) ?? openTable(db, name)
    tables.set(name, table)
    return table
  }
  const write = (name: string, id: string, position: Position, body: string | null): void => {
    const table = tableFor(name)
    const values = [id, ordered(position), body]
    if (replacesFirst && body !== null && prepared(replaceSql(table)).run(...values).changes > 0) return
    prepared(putSql(table)).run(...values)
  }
  const moveCheckpoint = db.prepare<[string, string]>(
    `INSERT INTO checkpoints (projection, position) VALUES (?, ?)
     ON CONFLICT (projection) DO UPDATE SET position = excluded.position WHERE excluded.position > position`,
  )
  const checkpoint = db.prepare<[string], [string]>('SELECT position FROM checkpoints WHERE projection = ?')
  const forget = db.prepare<[string]>('DELETE FROM checkpoints WHERE projection = ?')
  const catalogRevision = db.prepare<[], [number]>('SELECT revision FROM catalog')
  const catalogBody = db.prepare<[], [string]>('SELECT body FROM catalog')
  const makeCatalog = db.prepare<[number, string]>(
    'INSERT INTO catalog (only, revision, body) VALUES (1, ?, ?) ON CONFLICT DO NOTHING',
  )
  const replaceCatalog = db.prepare<[number, string, number]>(
    'UPDATE catalog SET revision = ?, body = ? WHERE revision = ?',
  )

  // Other processes and threads change it too; most times it is what it was.
  let known: Catalog = catalogIn(undefined)
  const catalog = (): Catalog => {
    const revision = catalogRevision.get()?.[0] ?? 0
    if (revision !== known.revision) known = catalogIn(catalogBody.get()?.[0])
    return known
  }
  const storedAs = (collection: string): string => names(collection, catalog())

  return {
    catalog: async () => catalog(),
    replaceCatalog: async (next) => {
      const body = JSON.stringify(next)
      const { changes } =
        next.revision === 1
          ? makeCatalog.run(next.revision, body)
          : replaceCatalog.run(next.revision, body, next.revision - 1)
      return changes > 0
    },
    prepare: async (collections) =>
      db.transaction(() => {
        tables.clear()
        for (const collection of collections) prepareTable(db, collection)
      }),
    apply: async (changes, moved) =>
      db.transaction(() => {
        for (const change of changes) {
          const name = storedAs(change.collection)
          switch (change.kind) {
            case 'put':
              write(name, change.document.id, change.position, JSON.stringify(change.document))
              break
            case 'remove':
              write(name, change.id, change.position, null)
              break
          }
        }
        if (moved) moveCheckpoint.run(moved.projection, ordered(moved.position))
      }),
    checkpoint: async (projection) => {
      const row = checkpoint.get(projection)
      return row === undefined ? null : row[0].replace(/^0+(?=\d)/, '')
    },
    get: async (collection, id) => {
      const table = tableOf(storedAs(collection))
      const row = prepared(`SELECT body FROM ${table} WHERE id = ? AND present = 1`).get(id)
      return row === undefined ? undefined : parsed(row)
    },
    getMany: async (collection, ids) => {
      const table = tableOf(storedAs(collection))
      const rows = prepared(
        `SELECT body FROM ${table} WHERE id IN (SELECT value FROM json_each(?)) AND present = 1`,
      ).all(JSON.stringify(ids))
      return new Map(rows.map(parsed).map((document) => [document.id, document]))
    },
    find: async (collection, query) => {
      const { sql, values } = findSql(tableFor(storedAs(collection)), query)
      return prepared(sql)
        .all(...values)
        .map(parsed)
    },
    count: async (collection, where) => {
      const { sql, values } = countSql(tableFor(storedAs(collection)), where)
      return Number(prepared(sql).get(...values)?.[0])
    },
    forget: async (projection) => void forget.run(projection),
    generations: async () =>
      db
        .prepare<[], [string]>(
          `SELECT substr(name, 6) FROM sqlite_master WHERE type = 'table' AND name LIKE 'docs\\_%' ESCAPE '\\'`,
        )
        .all()
        .map(([name]) => name)
        .filter(isGeneration),
    drop: async (collections, signal) => {
      for (const name of collections) {
        tables.delete(name)
        await dropTable(db, name, signal)
      }
    },
    aside: async (part) => openAside(db, `${file}.part${part}`),
    removeAsides: async () => removeAsides(file),
    scrub: async () => db.truncateLog(),
    ready: async () => {
      checkpoint.get('')
    },
    close: async () => db.close(),
  }
}

/** A file of its own: whoever writes to it waits for nobody, and nobody waits for it. */
function openAside(db: Sqlite, file: string): Aside {
  const remove = () => {
    for (const ending of ['', '-wal', '-shm']) rmSync(`${file}${ending}`, { force: true })
  }
  remove()
  // It is thrown away when it breaks off. Most documents that come here are new.
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

/** Of as many parts as there were once: another machine may have fewer cores. */
function removeAsides(file: string): void {
  const ofFile = `${basename(file)}.part`
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(ofFile)) rmSync(join(dirname(file), name), { force: true })
}

/** Positions have at most 20 digits; of one length they order as text. */
function ordered(position: Position): string {
  return position.padStart(20, '0')
}

function parsed([body]: [string]): Document {
  const document: Document = JSON.parse(body)
  return document
}
