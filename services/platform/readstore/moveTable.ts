/** Tables that come and go as a whole, in steps so short that other writers do not notice. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Sqlite } from '../engines/sqlite.ts'
import { columnOf, tableOf, valueIn } from './sqlQueries.ts'
import { openTable } from './sqlTables.ts'

/** Rows that are written in one transaction: a few milliseconds, in which no other writer gets its turn. */
const rowsAtOnce = 250
/** Between two: others that wait look again after 1 or 2 ms. */
const pauseMs = 3

/** Copies what a file has in the table of this name into our own; what is newer here stays. */
export async function landTable(db: Sqlite, file: string, name: string, signal?: AbortSignal): Promise<void> {
  const table = tableOf(name)
  // Several may land over one connection.
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

/** Empties the table and takes it away. */
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
