/** The table of a collection, its keys' columns and its indexes: made, or brought from what an older Flightdeck made. */
import type { Collection } from '../ports/readStore.ts'
import type { Sqlite } from '../engines/sqlite.ts'
import { columnOf, indexName, indexSql, tableOf, valueIn } from './sqlQueries.ts'
import type { Table } from './sqlQueries.ts'

/** To be called in a transaction. Documents that are there get the keys that are new. */
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

/** What is stored of a collection, by its columns. */
export function openTable(db: Sqlite, collection: string): Table {
  const columns = columnsOf(db, collection)
  const keys = columns.map((column) => /^"key (.+)"$/.exec(column)?.[1]).filter((key) => key !== undefined)
  return { collection, keys }
}

/** The names, quoted. */
function columnsOf(db: Sqlite, collection: string): readonly string[] {
  const columns = db.prepare<[], [number, string]>(`PRAGMA table_info(${tableOf(collection)})`)
  return columns.all().map(([, name]) => `"${name}"`)
}
