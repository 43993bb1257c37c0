/** The embedded read store: a table for each collection in a SQLite file, documents as JSON text. */
import type { Position } from '#domain/kernel/event.ts'
import type { Document, ReadStore } from '../ports/readStore.ts'
import { openSqlite, overwriteFreed } from '../sqlite.ts'
import type { SqlValue, Statement } from '../sqlite.ts'
import { countSql, findSql, tableOf } from './findSql.ts'
import type { Table } from './findSql.ts'
import { openTable, prepareTable } from './table.ts'
import { putSql, replaceSql } from './writeSql.ts'

const formats = [
  'CREATE TABLE checkpoints (projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT',
  // Keys have columns, which `prepare` adds; who does not know them must not write.
  '',
  // Pages that were freed until now still hold what was in them.
  overwriteFreed,
]

/** Opens the read models in `file`. A power cut may take the last writes, with their checkpoint: they are folded again. */
export function openSqliteReadStore(options: { file: string }): ReadStore {
  const db = openSqlite({ file: options.file, synchronous: 'NORMAL', formats, overwrites: true })

  // The texts of queries come from code and are few: all are kept.
  const kept = new Map<string, Statement<readonly SqlValue[], [string]>>()
  const prepared = (sql: string): Statement<readonly SqlValue[], [string]> => {
    const statement = kept.get(sql) ?? db.prepare<readonly SqlValue[], [string]>(sql)
    kept.set(sql, statement)
    return statement
  }
  const tables = new Map<string, Table>()
  const tableFor = (collection: string): Table => {
    const table = tables.get(collection) ?? openTable(db, collection)
    tables.set(collection, table)
    return table
  }
  const write = (collection: string, id: string, position: Position, body: string | null): void => {
    const table = tableFor(collection)
    const values = [id, ordered(position), body]
    if (body !== null && prepared(replaceSql(table)).run(...values).changes > 0) return
    prepared(putSql(table)).run(...values)
  }
  const moveCheckpoint = db.prepare<[string, string]>(
    `INSERT INTO checkpoints (projection, position) VALUES (?, ?)
     ON CONFLICT (projection) DO UPDATE SET position = excluded.position WHERE excluded.position > position`,
  )
  const checkpoint = db.prepare<[string], [string]>('SELECT position FROM checkpoints WHERE projection = ?')
  const forget = db.prepare<[string]>('DELETE FROM checkpoints WHERE projection = ?')

  return {
    prepare: async (collections) =>
      db.transaction(() => {
        tables.clear()
        for (const collection of collections) prepareTable(db, collection)
      }),
    apply: async (changes, { projection, position }) =>
      db.transaction(() => {
        for (const change of changes) {
          switch (change.kind) {
            case 'put':
              write(change.collection, change.document.id, change.position, JSON.stringify(change.document))
              break
            case 'remove':
              write(change.collection, change.id, change.position, null)
              break
          }
        }
        moveCheckpoint.run(projection, ordered(position))
      }),
    checkpoint: async (projection) => {
      const row = checkpoint.get(projection)
      return row === undefined ? null : row[0].replace(/^0+(?=\d)/, '')
    },
    get: async (collection, id) => {
      const row = prepared(`SELECT body FROM ${tableOf(collection)} WHERE id = ? AND present = 1`).get(id)
      return row === undefined ? undefined : parsed(row)
    },
    getMany: async (collection, ids) => {
      const rows = prepared(
        `SELECT body FROM ${tableOf(collection)} WHERE id IN (SELECT value FROM json_each(?)) AND present = 1`,
      ).all(JSON.stringify(ids))
      return new Map(rows.map(parsed).map((document) => [document.id, document]))
    },
    find: async (collection, query) => {
      const { sql, values } = findSql(tableFor(collection), query)
      return prepared(sql)
        .all(...values)
        .map(parsed)
    },
    count: async (collection, where) => {
      const { sql, values } = countSql(tableFor(collection), where)
      return Number(prepared(sql).get(...values)?.[0])
    },
    reset: async (projection, collections) =>
      db.transaction(() => {
        for (const collection of collections) prepared(`DELETE FROM ${tableOf(collection)}`).run()
        forget.run(projection)
      }),
    scrub: async () => db.truncateLog(),
    ready: async () => {
      checkpoint.get('')
    },
    close: async () => db.close(),
  }
}

/** Positions have at most 20 digits; of one length they order as text. */
function ordered(position: Position): string {
  return position.padStart(20, '0')
}

function parsed([body]: [string]): Document {
  const document: Document = JSON.parse(body)
  return document
}
