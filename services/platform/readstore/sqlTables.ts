/** Creates, migrates, fills and drops the tables of collections. */
import type { Collection } from '../ports/readStore.ts'
import type { Sqlite } from '../engines/sqlite.ts'
import { columnOf, indexName, indexSql, tableOf, valueIn, type Table } from './sqlQueries.ts'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Creates the table of a collection if it is missing. Adds and fills a column for each new key, and makes the table's indexes match `indexes`. Must
 * be called in a transaction.
 */
export function prepareTable(db: Sqlite, { name, indexes }: Collection): void {
  const table = tableOf(name)
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (id TEXT PRIMARY KEY, position TEXT NOT NULL, body TEXT, present INTEGER) STRICT`,
  )
  const made = columnsOf(db, name)
  const add = (column: string, type: string, value: string): void => {
    if (!made.includes(column))
      db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}; UPDATE ${table} SET ${column} = ${value}`)
  }
  add('"present"', 'INTEGER', 'body IS NOT NULL')
  const keys = new Set(indexes.flat().filter((field) => field !== 'id'))
  for (const key of keys) add(columnOf(key), 'ANY', valueIn('body', key))

  const wanted = indexes.map((fields) => indexName(name, fields))
  const found = db.prepare<[string], [string]>(
    `SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND '"' || tbl_name || '"' = ?`,
  )
  for (const [index] of found.all(table)) if (!wanted.includes(index)) db.exec(`DROP INDEX "${index}"`)
  for (const fields of indexes) db.exec(indexSql(name, fields))
}

export function openTable(db: Sqlite, collection: string): Table {
  const columns = columnsOf(db, collection)
  const keys = columns.map((column) => /^"key (.+)"$/.exec(column)?.[1]).filter((key) => key !== undefined)
  return { collection, keys }
}

function columnsOf(db: Sqlite, collection: string): readonly string[] {
  const columns = db.prepare<[], [number, string]>(`PRAGMA table_info(${tableOf(collection)})`)
  return columns.all().map(([, name]) => `"${name}"`)
}

/** The rows per transaction. Other writers wait while a transaction runs, which takes a few milliseconds. */
const rowsAtOnce = 250
/** The pause between two transactions. Waiting writers retry after 1 or 2 ms. */
const pauseMs = 3

/** Copies the table `name` from the database in `file` into the table of the same name in `db`. Documents that are newer in `db` are kept. */
export async function landTable(db: Sqlite, file: string, name: string, signal?: AbortSignal): Promise<void> {
  const table = tableOf(name)
  // The file's path is the name under which it is attached, since one connection may copy several files.
  const aside = `"${file}"`
  const { keys } = openTable(db, name)
  const columns = ['id', 'position', 'body', 'present', ...keys.map(columnOf)]
  const values = ['id', 'position', 'body', 'present', ...keys.map((key) => valueIn('body', key))]
  const replaced = columns
    .slice(1)
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')
  db.prepare<[string, string]>('ATTACH ? AS ?').run(file, file)
  try {
    const [last] = db.prepare<[], [number | null]>(`SELECT max(rowid) FROM ${aside}.${table}`).get() ?? [null]
    const copy = db.prepare<[number, number]>(
      `INSERT INTO main.${table} (${columns.join(', ')}) ` +
        `SELECT ${values.join(', ')} FROM ${aside}.${table} WHERE rowid > ? AND rowid <= ? ` +
        `ON CONFLICT (id) DO UPDATE SET ${replaced} WHERE excluded.position >= position`,
    )
    for (let from = 0; from < (last ?? 0); from += rowsAtOnce) {
      signal?.throwIfAborted()
      db.transaction(() => copy.run(from, from + rowsAtOnce))
      await pause(pauseMs)
    }
  } finally {
    db.prepare<[string]>('DETACH ?').run(file)
  }
}

export async function dropTable(db: Sqlite, name: string, signal?: AbortSignal): Promise<void> {
  const table = tableOf(name)
  const found = db.prepare<[string], [number]>(
    `SELECT 1 FROM sqlite_master WHERE type = 'table' AND '"' || name || '"' = ?`,
  )
  if (found.get(table) === undefined) return
  const empty = db.prepare<[number]>(
    `DELETE FROM ${table} WHERE rowid IN (SELECT rowid FROM ${table} LIMIT ?)`,
  )
  while (db.transaction(() => empty.run(rowsAtOnce)).changes > 0) {
    await pause(pauseMs)
    signal?.throwIfAborted()
  }
  db.exec(`DROP TABLE ${table}`)
}
