/** The least that appends durably: one prepared INSERT into one table, with a transaction (and so an fsync) for a number of rows. */
import { DatabaseSync } from '@photostructure/sqlite'
import type { StoredEvent } from '#domain/kernel/event.ts'

export interface BareAppender {
  /** Rows per second when `perTransaction` rows are written at a time, for `ms` milliseconds. */
  rate(load: { readonly perTransaction: number; readonly ms: number }): number
  close(): void
}

/** Opens the table in `file`. Each row is as large as the `sample`. */
export function openBareAppender(file: string, sample: StoredEvent): BareAppender {
  const db = new DatabaseSync(file)
  db.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE events (
      position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, stream TEXT NOT NULL, revision INTEGER NOT NULL,
      type TEXT NOT NULL, version INTEGER NOT NULL, at TEXT NOT NULL, data TEXT NOT NULL, content TEXT, meta TEXT NOT NULL,
      UNIQUE (stream, revision)
    ) STRICT`)
  const insert = db.prepare(
    'INSERT INTO events (id, stream, revision, type, version, at, data, content, meta) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const { stream, type, version, at, content } = sample
  const data = JSON.stringify(sample.data)
  const meta = JSON.stringify(sample.meta)
  let revision = 0

  function appendOne(): void {
    revision += 1
    const id = `${sample.id.slice(0, 24)}${revision.toString(16).padStart(12, '0')}`
    insert.run(id, stream, revision, type, version, at, data, content, meta)
  }

  return {
    rate({ perTransaction, ms }) {
      const first = revision
      const startedAt = performance.now()
      while (performance.now() - startedAt < ms) {
        db.exec('BEGIN IMMEDIATE')
        for (let row = 0; row < perTransaction; row += 1) appendOne()
        db.exec('COMMIT')
      }
      return ((revision - first) * 1_000) / (performance.now() - startedAt)
    },
    close: () => db.close(),
  }
}
